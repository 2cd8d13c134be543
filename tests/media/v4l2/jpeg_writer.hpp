#pragma once

#include <cstdint>
#include <vector>

#include "media/images.hpp"

namespace saccade::test {

/// How an image is encoded.
struct JpegShape {
  bool is_grey = false;
  bool is_rgb = false;  ///< without a conversion to YCbCr
  int across = 2;       ///< columns of luma per sample of chroma
  int down = 2;         ///< rows
  bool is_progressive = false;
  bool has_tables = true;       ///< Huffman tables, which the encoders of webcams omit
  bool has_own_tables = false;  ///< other than the standard ones
};

/// IMAGE as JPEG of quality 95; of a grey one, the red samples.
std::vector<std::uint8_t> write_jpeg(RgbImage& image, const JpegShape& shape = {});

}  // namespace saccade::test
