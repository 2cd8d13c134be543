#pragma once

#include <cstring>
#include <vector>

#include "saccade/tensor.hpp"
#include "tensor/frame.hpp"

namespace saccade::test {

/// VIEW as the tensor of a graph's frame input; borrows the pixels.
inline Tensor frame_tensor(const FrameView& view) {
  Tensor frame(DType::kFrame, {});
  std::memcpy(frame.raw(), &view, sizeof view);
  return frame;
}

/// A grey frame of PIXELS, row by row.
inline Tensor gray_frame(const std::vector<std::uint8_t>& pixels, int width, int height) {
  FrameView view{.format = PixelFormat::kGray8, .width = width, .height = height};
  view.planes[0] = pixels.data();
  view.pitch_bytes[0] = width;
  return frame_tensor(view);
}

}  // namespace saccade::test
