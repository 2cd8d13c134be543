#include "base/error.hpp"
#include "base/module.hpp"
#include "media/file_kind.hpp"
#include "media/image_list.hpp"
#include "media/modules.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "saccade/image.hpp"

namespace saccade {

Image load_image(const std::string& path, PixelFormat format) {
  if (file_kind(path) == FileKind::kOther)
    fail(ErrorCode::kInvalidFile, "'{}' is no image; videos are opened by Source::open()", path);
  FramePool pool(1);
  const std::unique_ptr<FrameReader> reader = open_image(path);
  const Outcome<Frame> frame = reader->read(pool);
  if (!frame) fail(ErrorCode::kInvalidFile, "{}", frame.failure().message);
  return convert(frame->view, format);
}

Image decode_image(std::span<const std::uint8_t> file, PixelFormat format, std::int64_t max_pixels) {
  FramePool pool(1);
  const auto reader = module<ImagesModule>("images").make_reader();
  const Outcome<Frame> frame = reader->read(file, "the image", max_pixels, pool);
  if (!frame) fail(ErrorCode::kInvalidFile, "{}", frame.failure().message);
  return convert(frame->view, format);
}

void save_image(const std::string& path, const Image& image) {
  if (image.format() == PixelFormat::kBgr24)
    write_image(path, convert(image.view(), PixelFormat::kRgb24).view());
  else
    write_image(path, image.view());
}

std::string encode_jpeg(const Image& image, int quality) {
  if (quality < 1 || quality > 100)
    fail(ErrorCode::kInvalidArgument, "the JPEG quality {} is not between 1 and 100", quality);
  if (image.format() == PixelFormat::kGray8)
    fail(ErrorCode::kUnsupported, "a gray8 image can't be encoded as JPEG: use rgb24 or bgr24");
  Image rgb = convert(image.view(), PixelFormat::kRgb24);
  std::string bytes;
  module<ImagesModule>("images").encode_jpeg({rgb.samples().data(), rgb.pitch_bytes(), rgb.width(), rgb.height()},
                                             quality, bytes);
  return bytes;
}

}  // namespace saccade
