#include <algorithm>
#include <array>
#include <vector>

#include "images/decoder.hpp"
#include "images/jpeg_errors.hpp"

namespace saccade {
namespace {

/// The planes of an image with these factors of subsampling; nothing: of none that we have.
std::optional<PixelFormat> planes_of(const jpeg_decompress_struct& info) {
  if (info.jpeg_color_space == JCS_GRAYSCALE && info.num_components == 1) return PixelFormat::kGray8;
  if (info.jpeg_color_space != JCS_YCbCr || info.num_components != 3) return std::nullopt;
  const jpeg_component_info& y = info.comp_info[0];
  for (int i = 1; i < 3; ++i)
    if (info.comp_info[i].h_samp_factor != info.comp_info[1].h_samp_factor ||
        info.comp_info[i].v_samp_factor != info.comp_info[1].v_samp_factor)
      return std::nullopt;
  const jpeg_component_info& c = info.comp_info[1];
  if (y.h_samp_factor % c.h_samp_factor != 0 || y.v_samp_factor % c.v_samp_factor != 0) return std::nullopt;
  const int across = y.h_samp_factor / c.h_samp_factor;
  const int down = y.v_samp_factor / c.v_samp_factor;
  if (across == 2 && down == 2) return PixelFormat::kI420;
  if (across == 2 && down == 1) return PixelFormat::kI422;
  if (across == 1 && down == 1) return PixelFormat::kI444;
  return std::nullopt;
}

/// The Huffman tables of an image that has none, as those of webcams.
struct StandardTables {
  std::array<JHUFF_TBL, 2> dc{};
  std::array<JHUFF_TBL, 2> ac{};
  bool is_known = false;

  /// From the encoder, because the decoder's interface lacks them.
  StandardTables() {
    JpegErrors errors;
    jpeg_compress_struct encoder{};
    encoder.err = install(errors);
    if (setjmp(errors.leave) == 0) {
      jpeg_create_compress(&encoder);
      encoder.in_color_space = JCS_YCbCr;
      encoder.input_components = 3;
      jpeg_set_defaults(&encoder);
      for (std::size_t i = 0; i < dc.size(); ++i) {
        dc[i] = *encoder.dc_huff_tbl_ptrs[i];
        ac[i] = *encoder.ac_huff_tbl_ptrs[i];
      }
      is_known = true;
    }
    jpeg_destroy_compress(&encoder);
  }

  /// A decoder keeps the tables of the image before. Those that it never had it takes from the standard itself.
  void restore(jpeg_decompress_struct& info) const noexcept {
    for (std::size_t i = 0; is_known && i < dc.size(); ++i) {
      if (info.dc_huff_tbl_ptrs[i] != nullptr) *info.dc_huff_tbl_ptrs[i] = dc[i];
      if (info.ac_huff_tbl_ptrs[i] != nullptr) *info.ac_huff_tbl_ptrs[i] = ac[i];
    }
  }
};

class JpegPlanesReader final : public JpegPlaneDecoder {
 public:
  JpegPlanesReader() {
    info_.err = install(errors_);
    jpeg_create_decompress(&info_);
  }
  JpegPlanesReader(const JpegPlanesReader&) = delete;
  JpegPlanesReader& operator=(const JpegPlanesReader&) = delete;
  ~JpegPlanesReader() override { jpeg_destroy_decompress(&info_); }

  bool begin(std::span<const std::uint8_t> image, JpegPlanes& planes) noexcept override {
    if (setjmp(errors_.leave) != 0) return abandon();
    jpeg_abort_decompress(&info_);
    standard_.restore(info_);
    jpeg_mem_src(&info_, image.data(), image.size());
    jpeg_read_header(&info_, TRUE);
    const std::optional<PixelFormat> format = planes_of(info_);
    if (!format) {
      constexpr char kUnknown[] = "a JPEG image of other planes than 4:2:0, 4:2:2, 4:4:4 and grey";
      std::copy(std::begin(kUnknown), std::end(kUnknown), errors_.message);
      return abandon();
    }
    planes = {*format, static_cast<int>(info_.image_width), static_cast<int>(info_.image_height)};
    return true;
  }

  /// The decoder writes whole blocks of 8x8 samples. A row has room for them, because a pitch is a multiple of 64; rows
  /// below the last one go to scratch memory.
  bool decode(const FrameView& frame) noexcept override {
    scratch_.resize(static_cast<std::size_t>(frame.pitch_bytes[0]));
    if (setjmp(errors_.leave) != 0) return abandon();
    info_.raw_data_out = TRUE;
    info_.out_color_space = info_.jpeg_color_space;
    jpeg_start_decompress(&info_);
    const auto sizes = plane_sizes(frame.format, frame.width, frame.height);
    const int step = info_.max_v_samp_factor * DCTSIZE;
    while (info_.output_scanline < info_.output_height) {
      const int strip = static_cast<int>(info_.output_scanline) / step;
      for (std::size_t i = 0; i < static_cast<std::size_t>(info_.num_components); ++i) {
        const int rows = info_.comp_info[i].v_samp_factor * DCTSIZE;
        for (int row = 0; row < rows; ++row) {
          const int y = strip * rows + row;
          // The decoder's interface lacks const; the frame is ours to write.
          rows_[i][static_cast<std::size_t>(row)] =
              y < sizes[i].rows ? const_cast<std::uint8_t*>(frame.planes[i]) + std::ptrdiff_t{y} * frame.pitch_bytes[i]
                                : scratch_.data();
        }
        planes_[i] = rows_[i].data();
      }
      jpeg_read_raw_data(&info_, planes_.data(), static_cast<JDIMENSION>(step));
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const char* error() const noexcept override { return errors_.message; }

 private:
  bool abandon() noexcept {
    jpeg_abort_decompress(&info_);
    return false;
  }

  StandardTables standard_;
  JpegErrors errors_;
  jpeg_decompress_struct info_{};
  std::vector<std::uint8_t> scratch_;
  std::array<std::array<JSAMPROW, MAX_SAMP_FACTOR * DCTSIZE>, 3> rows_{};
  std::array<JSAMPARRAY, 3> planes_{};
};

}  // namespace

std::unique_ptr<JpegPlaneDecoder> make_jpeg_plane_decoder() { return std::make_unique<JpegPlanesReader>(); }

}  // namespace saccade
