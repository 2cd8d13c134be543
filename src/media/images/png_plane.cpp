#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "base/error.hpp"
#include "images/decoder.hpp"
#include "images/png_errors.hpp"
#include "media/file_kind.hpp"

namespace saccade {
namespace {

/// One open PNG file.
class PlaneReader {
 public:
  explicit PlaneReader(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rbe"), &std::fclose) {
    if (file_ == nullptr) fail(ErrorCode::kIo, "'{}' can't be opened: {}", path, std::strerror(errno));
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, png_leave, png_stay_silent);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) throw std::bad_alloc();
  }
  ~PlaneReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PlaneReader(const PlaneReader&) = delete;
  PlaneReader& operator=(const PlaneReader&) = delete;

  StoredPlane read() {
    if (file_kind(path_) != FileKind::kPng) fail(ErrorCode::kInvalidFile, "'{}' is not a PNG file", path_);
    if (!begin()) damaged();
    const int type = png_get_color_type(png_, info_);
    if ((type & PNG_COLOR_MASK_COLOR) != 0 && type != PNG_COLOR_TYPE_PALETTE)
      fail(ErrorCode::kInvalidFile, "'{}' is a colour image: a greyscale or palette image is expected", path_);
    StoredPlane plane{.width = static_cast<int>(png_get_image_width(png_, info_)),
                      .height = static_cast<int>(png_get_image_height(png_, info_)),
                      .bits = png_get_bit_depth(png_, info_),
                      .samples = {}};
    const auto pixels = static_cast<std::int64_t>(plane.width) * plane.height;
    if (pixels > kMaxPixels)
      fail(ErrorCode::kInvalidFile, "'{}' declares {}x{} pixels, more than the limit of {}", path_, plane.width,
           plane.height, kMaxPixels);
    plane.samples.resize(static_cast<std::size_t>(pixels));
    rows_.resize(static_cast<std::size_t>(plane.height));
    for (std::size_t y = 0; y < rows_.size(); ++y)
      rows_[y] = reinterpret_cast<png_bytep>(&plane.samples[y * static_cast<std::size_t>(plane.width)]);
    if (!decode(plane)) damaged();
    return plane;
  }

 private:
  /// Code between setjmp and longjmp is plain C: no destructor is skipped.
  bool begin() noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_init_io(png_, file_.get());
    png_read_info(png_, info_);
    return true;
  }

  bool decode(const StoredPlane& plane) noexcept {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if (plane.bits == 16)
      png_set_swap(png_);  // to the byte order of this machine
    else
      png_set_packing(png_);
    png_set_strip_alpha(png_);
    png_read_update_info(png_, info_);
    png_read_image(png_, rows_.data());
    png_read_end(png_, nullptr);
    if (plane.bits == 16) return true;
    // Samples of 8 bits, at the start of rows of 16-bit samples, are widened from the end.
    for (png_bytep row : rows_) {
      auto* samples = reinterpret_cast<std::uint16_t*>(row);
      for (int x = plane.width; x-- > 0;) samples[x] = row[x];
    }
    return true;
  }

  [[noreturn]] void damaged() const { fail(ErrorCode::kInvalidFile, "'{}' is damaged: {}", path_, message_.text); }

  const std::string& path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  PngMessage message_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::vector<png_bytep> rows_;
};

}  // namespace

StoredPlane read_png_plane(const std::string& path) { return PlaneReader(path).read(); }

}  // namespace saccade
