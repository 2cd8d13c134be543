#include "media/v4l2/jpeg_writer.hpp"

// jpeglib.h uses FILE and size_t without including them.
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace saccade::test {
namespace {

/// JPEG without its segments of Huffman tables.
std::vector<std::uint8_t> without_tables(const std::vector<std::uint8_t>& jpeg) {
  constexpr std::uint8_t kTables = 0xC4;
  constexpr std::uint8_t kScan = 0xDA;
  std::vector<std::uint8_t> rest(jpeg.begin(), jpeg.begin() + 2);
  std::size_t at = 2;
  while (jpeg[at + 1] != kScan) {
    const std::size_t next = at + 2 + 256U * jpeg[at + 2] + jpeg[at + 3];
    if (jpeg[at + 1] != kTables)
      rest.insert(rest.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(at),
                  jpeg.begin() + static_cast<std::ptrdiff_t>(next));
    at = next;
  }
  rest.insert(rest.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(at), jpeg.end());
  return rest;
}

}  // namespace

std::vector<std::uint8_t> write_jpeg(RgbImage& image, const JpegShape& shape) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = shape.is_grey ? 1 : 3;
  info.in_color_space = shape.is_grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (shape.is_rgb) jpeg_set_colorspace(&info, JCS_RGB);
  jpeg_set_quality(&info, 95, TRUE);
  info.optimize_coding = shape.has_own_tables ? TRUE : FALSE;
  if (!shape.is_grey) {
    info.comp_info[0].h_samp_factor = shape.across;
    info.comp_info[0].v_samp_factor = shape.down;
  }
  if (shape.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<std::uint8_t> row;
  while (info.next_scanline < info.image_height) {
    row.clear();
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* pixel = image.at(x, static_cast<int>(info.next_scanline));
      row.insert(row.end(), pixel, pixel + info.input_components);
    }
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&info, &rows, 1);
  }
  jpeg_finish_compress(&info);
  std::vector<std::uint8_t> jpeg(bytes, bytes + size);
  std::free(bytes);
  jpeg_destroy_compress(&info);
  return shape.has_tables ? jpeg : without_tables(jpeg);
}

}  // namespace saccade::test
