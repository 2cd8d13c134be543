#pragma once

#include "saccade/model.hpp"

namespace saccade::serve {

/// The number of images, 1, 2, 4 ... 32, of which MODEL runs the most per second at once; 1 if it takes no batches.
/// Compiles the model for all of them. Throws Error.
std::size_t fastest_batch(const Model& model);

}  // namespace saccade::serve
