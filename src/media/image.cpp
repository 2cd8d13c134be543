#include "saccade/image.hpp"

#include <utility>

#include "base/error.hpp"
#include "media/convert.hpp"
#include "tensor/frame.hpp"

namespace saccade {

Image convert(const FrameView& frame, PixelFormat format) {
  if (format != PixelFormat::kRgb24 && format != PixelFormat::kBgr24)
    fail(ErrorCode::kUnsupported, "a frame can't be converted to {}: use rgb24 or bgr24", to_string(format));
  check_readable(frame);
  Image image(format, frame.width, frame.height);
  const std::span<std::uint8_t> samples = image.samples();
  to_rgb(frame, {samples.data(), image.pitch_bytes(), frame.width, frame.height});
  if (format == PixelFormat::kBgr24)
    for (std::size_t i = 0; i < samples.size(); i += 3) std::swap(samples[i], samples[i + 2]);
  return image;
}

}  // namespace saccade
