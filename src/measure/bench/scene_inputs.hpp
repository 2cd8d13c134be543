#pragma once

#include <cstdint>
#include <vector>

#include "saccade/model.hpp"

namespace saccade {

/// Replaces the image among INPUTS, tensors of MODEL's inputs in their order, by a frame of the built-in scene that is
/// preprocessed as the model's card says. Each SEED is another scene. Leaves INPUTS as they are if the model is not
/// recognised or takes a batch: scores of noise are near 0 for every class, where engines differ by rounding alone.
/// Throws Error as attach() does.
void draw_scene(const Model& model, std::uint64_t seed, std::vector<Tensor>& inputs);

}  // namespace saccade
