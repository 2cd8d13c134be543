#pragma once

#include <cstdint>
#include <saccade/model.hpp>
#include <vector>

namespace saccade::app {

/// A tensor for INPUT, the same for the same seed on every machine: numbers in [0, 1), as images are; whole ones 0 to
/// 255 for uint8 (pixels), else 1 to 320 (sizes of pictures). Throws Error where its type can't be drawn.
Tensor random_tensor(const TensorInfo& input, std::uint64_t seed);
/// One an input.
std::vector<Tensor> random_inputs(const Model& model, std::uint64_t seed);

}  // namespace saccade::app
