#include "model_size.hpp"

namespace saccade::app {
namespace {

bool is_channels(std::int64_t size) { return size == 1 || size == 3; }

}  // namespace

void set_model_size(SourceOptions& options, const Model& model) {
  for (const TensorInfo& input : model.inputs()) {
    const Shape& shape = input.shape;
    if (shape.rank() != 4) continue;
    const bool is_nchw = is_channels(shape[1]);
    if (!is_nchw && !is_channels(shape[3])) continue;
    const std::int64_t height = is_nchw ? shape[2] : shape[1];
    const std::int64_t width = is_nchw ? shape[3] : shape[2];
    // Symbolic sizes are 1, and a vector may look like a row of pixels.
    if (width <= 1 || height <= 1) continue;
    options.model_width = static_cast<int>(width);
    options.model_height = static_cast<int>(height);
    return;
  }
}

}  // namespace saccade::app
