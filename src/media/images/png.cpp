#include <cstdio>
#include <cstring>

#include "base/output_file.hpp"
#include "images/decoder.hpp"
#include "images/exif.hpp"
#include "images/png_errors.hpp"

namespace saccade {
namespace {

constexpr png_byte kTexts[] = "tEXt\0zTXt\0iTXt";
constexpr int kTextCount = 3;

class PngDecoder final : public ImageDecoder {
 public:
  PngDecoder() = default;
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() override { reset(); }

  bool begin(std::span<const std::uint8_t> file, ImageHeader& header) noexcept override {
    reset();
    rest_ = file;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, png_leave, png_stay_silent);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      std::snprintf(message_.text, sizeof(message_.text), "out of memory");
      return false;
    }
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    // Texts are not read: compressed, they could be a thousand times as large as the file.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kTexts, kTextCount);
    png_set_read_fn(png_, this, take);
    png_read_info(png_, info_);
    header = {static_cast<int>(png_get_image_width(png_, info_)), static_cast<int>(png_get_image_height(png_, info_)),
              orientation(), 0};
    return true;
  }

  bool decode(std::uint8_t* rgb, int pitch_bytes) noexcept override {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    // Everything is converted to 8-bit RGB: 16-bit samples lose their low byte and transparency is ignored, as in
    // OpenCV.
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const auto height = static_cast<int>(png_get_image_height(png_, info_));
    for (int pass = 0; pass < passes; ++pass)
      for (int y = 0; y < height; ++y) png_read_row(png_, rgb + static_cast<std::ptrdiff_t>(y) * pitch_bytes, nullptr);
    png_read_end(png_, nullptr);
    return true;
  }

  const char* error() const noexcept override { return message_.text; }

 private:
  static void take(png_structp png, png_bytep to, png_size_t count) {
    auto& self = *static_cast<PngDecoder*>(png_get_io_ptr(png));
    if (count > self.rest_.size()) png_error(png, "the file ends too early");
    std::memcpy(to, self.rest_.data(), count);
    self.rest_ = self.rest_.subspan(count);
  }

  int orientation() noexcept {
    png_uint_32 bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &bytes, &exif) == 0) return 1;
    return exif_orientation({exif, bytes});
  }

  void reset() noexcept {
    if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
    png_ = nullptr;
    info_ = nullptr;
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  PngMessage message_;
  std::span<const std::uint8_t> rest_;
};

/// Code between setjmp and longjmp is plain C: no destructor is skipped.
bool encode(png_structp png, png_infop info, std::FILE* file, const FrameView& frame) noexcept {
  constexpr int kFast = 3;  // zlib's last level with a short search: frames of video compress no better above
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_init_io(png, file);
  png_set_compression_level(png, kFast);
  png_set_IHDR(png, info, static_cast<png_uint_32>(frame.width), static_cast<png_uint_32>(frame.height), 8,
               frame.format == PixelFormat::kGray8 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < frame.height; ++y)
    png_write_row(png, frame.planes[0] + static_cast<std::ptrdiff_t>(y) * frame.pitch_bytes[0]);
  png_write_end(png, info);
  return true;
}

}  // namespace

std::unique_ptr<ImageDecoder> make_png_decoder() { return std::make_unique<PngDecoder>(); }

void write_png(const std::string& path, const FrameView& frame) {
  OutputFile file(path, OutputFile::Appears::kWhole, OutputPath::Claim::kChecked);
  PngMessage message;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, png_leave, png_stay_silent);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  const bool written = info != nullptr && encode(png, info, file.stream(), frame);
  png_destroy_write_struct(&png, &info);
  if (!written) fail(ErrorCode::kIo, "'{}' can't be written: {}", path, message.text);
  file.close();
}

}  // namespace saccade
