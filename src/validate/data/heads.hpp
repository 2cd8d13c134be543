#pragma once

#include <initializer_list>

#include "saccade/model.hpp"
#include "vision/cards/card.hpp"

namespace saccade {

/// The first head of MODEL with one of TASKS; null if it has none. Valid as long as the model.
const Head* find_head(const Model& model, std::initializer_list<Task> tasks);

/// The same, but throws Error (kInvalidArgument): KIND needs a model that predicts WHAT.
const Head& need_head(const Model& model, std::initializer_list<Task> tasks, const char* kind, const char* what);

}  // namespace saccade
