#include "pipeline/sinks/map_files.hpp"

#include "base/error.hpp"
#include "media/frame_reader.hpp"
#include "saccade/npy.hpp"

namespace saccade {

void MapFiles::save(const std::filesystem::path& npy, const DepthMap& map, int width, int height) {
  const Shape shape = {height, width};
  if (depth_.empty() || depth_.shape() != shape) depth_ = Tensor(DType::kFloat32, shape);
  const auto pixels = depth_.data<float>();
  const auto pitch = static_cast<std::size_t>(width);
  for (int y = 0; y < height; ++y) rows_.read(map, y, pixels.subspan(static_cast<std::size_t>(y) * pitch, pitch));
  save_npy(npy.string(), depth_);
}

void MapFiles::save(const std::filesystem::path& png, const ClassMap& map, int width, int height) {
  constexpr std::int32_t kNone = 255;
  const auto pitch = static_cast<std::size_t>(width);
  ids_.resize(pitch);
  grey_.resize(pitch * static_cast<std::size_t>(height));
  auto pixel = grey_.begin();
  for (int y = 0; y < height; ++y) {
    rows_.read(map, y, ids_);
    for (std::int32_t id : ids_) {
      if (id >= kNone)
        fail(ErrorCode::kUnsupported, "can't write {}: the class ID {} does not fit 8 bits per pixel (0 to 254)",
             png.string(), id);
      *pixel++ = static_cast<std::uint8_t>(id < 0 ? kNone : id);
    }
  }
  FrameView view{.format = PixelFormat::kGray8, .range = ColorRange::kFull, .width = width, .height = height};
  view.planes[0] = grey_.data();
  view.pitch_bytes[0] = width;
  write_image(png.string(), view);
}

}  // namespace saccade
