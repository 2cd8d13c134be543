#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "images/decoder.hpp"
#include "images/exif.hpp"
#include "images/jpeg_errors.hpp"

namespace saccade {
namespace {

int orientation_of(const jpeg_decompress_struct& info) {
  constexpr char kExif[] = "Exif\0";  // and the literal's terminating zero: six bytes
  for (auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    if (marker->data_length <= sizeof(kExif) || std::memcmp(marker->data, kExif, sizeof(kExif)) != 0) continue;
    return exif_orientation(std::span(marker->data, marker->data_length).subspan(sizeof(kExif)));
  }
  return 1;
}

/// Of an image of several scans, whose coefficients libjpeg keeps.
std::size_t coefficient_bytes(jpeg_decompress_struct& info) {
  if (jpeg_has_multiple_scans(&info) == FALSE) return 0;
  std::size_t blocks = 0;
  for (int i = 0; i < info.num_components; ++i)
    blocks += std::size_t{info.comp_info[i].width_in_blocks} * info.comp_info[i].height_in_blocks;
  return blocks * sizeof(JBLOCK);
}

/// Adobe's inverted CMYK, which libjpeg cannot convert; the arithmetic is OpenCV's.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    const int key = cmyk[4 * x + 3];
    for (std::size_t c = 0; c < 3; ++c)
      rgb[3 * x + c] = static_cast<std::uint8_t>(key - ((255 - cmyk[4 * x + c]) * key >> 8));
  }
}

/// Each scan of a progressive image is a pass over all of its pixels, and takes few bytes: what a file may cost is
/// limited by the pixels of all scans. Encoders write about ten.
void limit_scans(j_common_ptr info) {
  constexpr int kUsualScans = 20;
  constexpr int kMostScans = 100;
  constexpr std::int64_t kMostPixels = 1'000'000'000;
  if (info->is_decompressor == FALSE) return;
  const auto& image = *reinterpret_cast<j_decompress_ptr>(info);
  const int scans = image.input_scan_number;
  const std::int64_t pixels = std::int64_t{image.image_width} * image.image_height;
  if (scans <= kUsualScans || (scans <= kMostScans && scans * pixels <= kMostPixels)) return;
  auto* state = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(state->message, sizeof(state->message), "it has more than %d scans of %u x %u pixels", scans - 1,
                image.image_width, image.image_height);
  std::longjmp(state->leave, 1);
}

class JpegDecoder final : public ImageDecoder {
 public:
  JpegDecoder() {
    info_.err = install(error_);
    jpeg_create_decompress(&info_);
    progress_.progress_monitor = limit_scans;
    info_.progress = &progress_;
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() override { jpeg_destroy_decompress(&info_); }

  bool begin(std::span<const std::uint8_t> file, ImageHeader& header) noexcept override {
    if (setjmp(error_.leave) != 0) return abandon();
    jpeg_abort_decompress(&info_);
    jpeg_mem_src(&info_, file.data(), file.size());
    jpeg_read_header(&info_, TRUE);
    const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    header = {static_cast<int>(info_.image_width), static_cast<int>(info_.image_height), orientation_of(info_),
              coefficient_bytes(info_)};
    return true;
  }

  bool decode(std::uint8_t* rgb, int pitch_bytes) noexcept override {
    if (info_.out_color_space == JCS_CMYK) cmyk_row_.resize(4 * static_cast<std::size_t>(info_.image_width));
    if (setjmp(error_.leave) != 0) return abandon();
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      std::uint8_t* to = rgb + static_cast<std::ptrdiff_t>(info_.output_scanline) * pitch_bytes;
      std::uint8_t* row = cmyk_row_.empty() || info_.out_color_space != JCS_CMYK ? to : cmyk_row_.data();
      jpeg_read_scanlines(&info_, &row, 1);
      if (row != to) cmyk_to_rgb(row, to, info_.output_width);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const char* error() const noexcept override { return error_.message; }

 private:
  bool abandon() noexcept {
    jpeg_abort_decompress(&info_);
    return false;
  }

  JpegErrors error_;
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  std::vector<std::uint8_t> cmyk_row_;
};

/// SET_DESTINATION chooses the output. Code between setjmp and longjmp is plain C: no destructor is skipped.
template <typename SetDestination>
bool encode(const FrameView& frame, int quality, JpegErrors& error, const SetDestination& set_destination) noexcept {
  jpeg_compress_struct info{};
  info.err = install(error);
  if (setjmp(error.leave) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  set_destination(info);
  info.image_width = static_cast<JDIMENSION>(frame.width);
  info.image_height = static_cast<JDIMENSION>(frame.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // libjpeg's interface lacks const, but does not modify the row.
    auto* row = const_cast<std::uint8_t*>(frame.planes[0]) +
                static_cast<std::ptrdiff_t>(info.next_scanline) * frame.pitch_bytes[0];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

}  // namespace

std::unique_ptr<ImageDecoder> make_jpeg_decoder() { return std::make_unique<JpegDecoder>(); }

void write_jpeg(const std::string& path, const FrameView& frame) {
  constexpr int kQuality = 90;
  OutputFile file(path, OutputFile::Appears::kWhole, OutputPath::Claim::kChecked);
  JpegErrors error;
  const auto to_file = [&file](jpeg_compress_struct& info) { jpeg_stdio_dest(&info, file.stream()); };
  if (!encode(frame, kQuality, error, to_file)) fail(ErrorCode::kIo, "'{}' can't be written: {}", path, error.message);
  file.close();
}

void encode_jpeg(const RgbView& image, int quality, std::string& bytes) {
  unsigned char* data = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's
  JpegErrors error;
  const auto to_memory = [&](jpeg_compress_struct& info) { jpeg_mem_dest(&info, &data, &size); };
  const bool is_encoded = encode(view_of(image), quality, error, to_memory);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(data, std::free);
  if (!is_encoded) fail(ErrorCode::kInvalidArgument, "an image can't be encoded as JPEG: {}", error.message);
  bytes.assign(reinterpret_cast<const char*>(data), size);
}

void jpeg_roundtrip(const RgbView& image, int quality) {
  std::string bytes;
  encode_jpeg(image, quality, bytes);
  JpegDecoder decoder;
  ImageHeader header;
  const std::span<const std::uint8_t> file(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!decoder.begin(file, header) || !decoder.decode(image.data, image.pitch_bytes))
    fail(ErrorCode::kInternal, "our own JPEG can't be read: {}", decoder.error());
}

}  // namespace saccade
