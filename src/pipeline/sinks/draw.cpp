#include "saccade/draw.hpp"

#include "base/module.hpp"
#include "tensor/frame.hpp"
#include "vision/drawer.hpp"

namespace saccade {

Image draw(const FrameView& frame, std::span<const Result> results) {
  Image image = convert(frame, PixelFormat::kRgb24);
  const std::unique_ptr<Drawer> drawer = module<DrawModule>("draw").make_drawer();
  for (const Result& result : results) {
    if (result.image.width > 0) image = convert(result.image, PixelFormat::kRgb24);
    drawer->draw(result, {image.samples().data(), image.pitch_bytes(), image.width(), image.height()});
  }
  return image;
}

}  // namespace saccade
