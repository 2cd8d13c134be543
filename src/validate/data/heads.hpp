#pragma once

#include <initializer_list>

#include "saccade/model.hpp"
#include "vision/card.hpp"

namespace saccade {

/// The first of MODEL's answers that is for one of TASKS; null: it gives none. Lives as long as the model.
const Head* find_head(const Model& model, std::initializer_list<Task> tasks);

/// The same, but throws Error (kInvalidArgument) saying that KIND needs a model that gives WHAT.
const Head& need_head(const Model& model, std::initializer_list<Task> tasks, const char* kind, const char* what);

}  // namespace saccade
