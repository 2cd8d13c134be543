#include "saccade/image.hpp"

#include "base/error.hpp"
#include "tensor/frame.hpp"

namespace saccade {

Image::Image(PixelFormat format, int width, int height) : format_(format), width_(width), height_(height) {
  if (format != PixelFormat::kRgb24 && format != PixelFormat::kBgr24 && format != PixelFormat::kGray8)
    fail(ErrorCode::kUnsupported, "an image can't be {}: use rgb24, bgr24 or gray8", to_string(format));
  check_size(width, height);
  samples_.resize(static_cast<std::size_t>(pitch_bytes()) * static_cast<std::size_t>(height));
}

FrameView Image::view() const noexcept {
  return {.format = format_,
          .range = ColorRange::kFull,
          .width = width_,
          .height = height_,
          .planes = {samples_.data()},
          .pitch_bytes = {pitch_bytes()}};
}

}  // namespace saccade
