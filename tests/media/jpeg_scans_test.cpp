#include <gtest/gtest.h>

#include <cstdio>
// jpeglib.h uses FILE and size_t without including them.
#include <jpeglib.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

#include "media/frame_reader.hpp"
#include "saccade/error.hpp"
#include "support/frames.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

/// Writes a black progressive image of SIDE x SIDE grey pixels: a scan of the mean of each block, the others of one
/// coefficient each, then of another bit of each. At most 127 SCANS.
void write_scans(const std::string& path, unsigned side, int scans) {
  constexpr int kLast = 63;  // coefficient of a block
  std::vector<jpeg_scan_info> script{{1, {0}, 0, 0, 0, 0}};
  for (int k = 1; k <= kLast && std::ssize(script) < scans; ++k) script.push_back({1, {0}, k, k, 0, 1});
  for (int k = 1; k <= kLast && std::ssize(script) < scans; ++k) script.push_back({1, {0}, k, k, 1, 0});
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = info.image_height = side;
  info.input_components = 1;
  info.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  info.scan_info = script.data();
  info.num_scans = static_cast<int>(script.size());
  jpeg_start_compress(&info, TRUE);
  std::vector<std::uint8_t> row(side);
  std::uint8_t* rows = row.data();
  while (info.next_scanline < side) jpeg_write_scanlines(&info, &rows, 1);
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(data, std::free);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

/// Why an image of SIDE x SIDE pixels in so many SCANS can't be read; empty: it can.
std::string refusal(unsigned side, int scans) {
  const test::TempFolder folder;
  const std::string path = folder / "image.jpg";
  write_scans(path, side, scans);
  test::FramePool pool;
  const Outcome<Frame> frame = open_reader(path)->read(pool);
  return frame ? "" : frame.failure().message;
}

TEST(JpegScans, ManyAreReadOfASmallImage) { EXPECT_EQ(refusal(16, 100), ""); }

TEST(JpegScans, MoreThanAnyEncoderWritesAreRefused) {
  EXPECT_NE(refusal(16, 101).find("more than 100 scans of 16 x 16 pixels"), std::string::npos);
}

/// 36 million pixels.
TEST(JpegScans, FewerAreReadOfALargeImage) {
  EXPECT_EQ(refusal(6000, 20), "");
  EXPECT_NE(refusal(6000, 28).find("more than 27 scans of 6000 x 6000 pixels"), std::string::npos);
}

}  // namespace
}  // namespace saccade
