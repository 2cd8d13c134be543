#pragma once

#include <cstdint>
#include <saccade/model.hpp>
#include <vector>

namespace saccade::app {

/// A random tensor for INPUT, reproducible on every machine: floats in [0, 1), as for images; integers 0 to 255 for
/// uint8 (pixels), else 1 to 320 (image sizes). Throws Error for unsupported types.
Tensor random_tensor(const TensorInfo& input, std::uint64_t seed);
/// One per input.
std::vector<Tensor> random_inputs(const Model& model, std::uint64_t seed);

}  // namespace saccade::app
