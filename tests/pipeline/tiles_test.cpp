#include "saccade/tiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saccade/saccade.hpp"
#include "support/bright_frame.hpp"
#include "support/cpu_model.hpp"
#include "support/tile_models.hpp"
#include "support/tiny_models.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

class Tiles : public testing::Test {
 protected:
  Model blobs(const TileOptions& tiles, std::optional<Region> roi = {}) {
    return test::load_on_cpu(test::write_blob_detector(folder_), {.roi = roi, .tiles = tiles});
  }
  std::string refusal(const std::string& path, ModelOptions options) {
    options.device = Device::cpu();
    try {
      FrameSession{Model::load(path, options)};
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return {};
  }

  test::TempFolder folder_;
  TileOptions tiles_{.size = 32, .overlap = 0.25F, .full_frame = false};
};

TEST_F(Tiles, JoinABoxThatTheirBordersCutInEveryFormatAndAnOddSize) {
  FrameSession session(blobs(tiles_));
  for (const PixelFormat format : kPixelFormats) {
    for (const auto& [width, height] : {std::pair(101, 75), {128, 64}, {32, 32}, {63, 36}}) {
      test::BrightFrame frame(format, width, height);
      // Tiles end at 32 and 56, and begin at 24 and 48: both borders cut the box where it fits into the frame.
      const Region box{width > 64 ? 44 : 16, height > 36 ? 26 : 20, 14, 8};
      frame.fill(box, 235);
      const Result& result = session.run(frame.view());
      EXPECT_EQ(result.width, width);
      ASSERT_EQ(result.detections.size(), 1U) << to_string(format) << ' ' << width;
      const std::array<float, 4> wanted = {static_cast<float>(box.x), static_cast<float>(box.y),
                                           static_cast<float>(box.x + box.width),
                                           static_cast<float>(box.y + box.height)};
      // Tiles of the odd sizes have 33 pixels, which the model sees as 32.
      const float tolerance = width % 2 == 0 && height % 2 == 0 ? 0 : 1.1F;
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(result.detections[0].box[i], wanted[i], tolerance) << to_string(format) << ' ' << width;
    }
  }
}

TEST_F(Tiles, FindEachOfSeveralObjects) {
  FrameSession session(blobs(tiles_));
  test::BrightFrame frame(PixelFormat::kI420, 200, 120);
  for (const auto& [x, y] : {std::pair(2, 3), {60, 30}, {150, 100}, {196, 2}}) frame.fill({x, y, 4, 4}, 235);
  EXPECT_EQ(session.run(frame.view()).detections.size(), 4U);
  tiles_.merge = TileMerge::kNms;
  FrameSession suppressing(blobs(tiles_));
  EXPECT_EQ(suppressing.run(frame.view()).detections.size(), 4U);
}

TEST_F(Tiles, TheWholeFrameSeesWhatNoTileDoes) {
  test::BrightFrame frame(PixelFormat::kRgb24, 160, 160);
  frame.fill({10, 10, 140, 140}, 235);
  FrameSession parts(blobs(tiles_));
  for (const Detection& part : parts.run(frame.view()).detections) EXPECT_LT(part.box[2] - part.box[0], 100);
  tiles_.full_frame = true;
  FrameSession whole(blobs(tiles_));
  float widest = 0;
  for (const Detection& each : whole.run(frame.view()).detections) widest = std::max(widest, each.box[2] - each.box[0]);
  EXPECT_NEAR(widest, 140, 5);
}

TEST_F(Tiles, LieInTheRegionOfInterest) {
  test::BrightFrame frame(PixelFormat::kNv12, 200, 120);
  frame.fill({4, 4, 6, 6}, 235);
  frame.fill({100, 60, 6, 6}, 235);
  FrameSession session(blobs(tiles_, Region{51, 41, 90, 60}));
  const Result& result = session.run(frame.view());
  ASSERT_EQ(result.detections.size(), 1U);
  EXPECT_EQ(result.detections[0].box, (std::array<float, 4>{100, 60, 106, 66}));
  FrameSession outside(blobs(tiles_, Region{300, 0, 10, 10}));
  EXPECT_THROW(outside.run(frame.view()), Error);
}

TEST_F(Tiles, AddUpTheirLatencies) {
  test::BrightFrame frame(PixelFormat::kRgb24, 640, 640);
  FrameSession session(blobs(tiles_));
  const Latency latency = session.run(frame.view()).latency;
  EXPECT_GT(latency.model.count(), 0);
  EXPECT_EQ(latency.total, latency.pre + latency.model + latency.post);
}

TEST_F(Tiles, StitchAClassMap) {
  FrameSession session(test::load_on_cpu(test::write_color_mapper(folder_), {.tiles = tiles_}));
  std::vector<std::uint8_t> pixels(std::size_t{3} * 120 * 70);
  const auto class_at = [](int x, int y) { return (x / 40 + y / 35) % 3; };
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 120; ++x) pixels[static_cast<std::size_t>(3 * (120 * y + x) + class_at(x, y))] = 200;
  const Result& result = session.run(view_of(RgbView{pixels.data(), 360, 120, 70}));
  EXPECT_EQ(result.class_map.place.columns, 120);
  EXPECT_EQ(result.class_map.place.rows, 70);
  int wrong = 0;
  std::int64_t sum = 0;
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 120; ++x) wrong += result.class_map.at(x, y) != class_at(x, y);
  // A cell of an 8x8 model is 4 pixels wide.
  EXPECT_LT(wrong, 120 * 70 / 10);
  for (const Segment& segment : result.segments) sum += segment.pixels;
  EXPECT_EQ(sum, 120 * 70);
  ASSERT_EQ(result.segments.size(), 3U);
  EXPECT_FALSE(result.segments[0].class_name.empty());
}

TEST_F(Tiles, AreRefusedWherePredictionsCannotBeJoined) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal(test::write_color_classifier(folder_), {.tiles = tiles_}),
              HasSubstr("predictions of the task classify cannot be joined from tiles"));
  EXPECT_THAT(refusal(test::write_brightness_depth(folder_), {.tiles = tiles_}), HasSubstr("depth.onnx"));
  EXPECT_THAT(refusal(test::write_bicubic(folder_, 48, 48, 3, "larger"), {.tiles = tiles_}),
              HasSubstr("always runs on tiles"));
}

TEST_F(Tiles, OfInvalidSizesAreRefused) {
  const std::string model = test::write_blob_detector(folder_);
  using testing::HasSubstr;
  EXPECT_THAT(refusal(model, {.tiles = TileOptions{.size = 31}}), HasSubstr("the tile size 31 is not between 32 and"));
  EXPECT_THAT(refusal(model, {.tiles = TileOptions{.overlap = 0.95F}}), HasSubstr("the overlap 0.95 of tiles"));
  EXPECT_THAT(refusal(model, {.tiles = TileOptions{.overlap = NAN}}), HasSubstr("the overlap nan of tiles"));
}

/// A smooth image of many colours.
std::vector<std::uint8_t> colors(int width, int height) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const double phase : {0.0, 1.0, 2.5})
        pixels.push_back(
            static_cast<std::uint8_t>(128 + 60 * std::sin(x / 9.0 + phase) + 50 * std::cos(y / 7.0 - phase)));
  return pixels;
}

std::vector<int> bytes_of(const FrameView& image) {
  std::vector<int> bytes;
  for (int y = 0; y < image.height; ++y)
    for (int i = 0; i < 3 * image.width; ++i) bytes.push_back(image.planes[0][y * image.pitch_bytes[0] + i]);
  return bytes;
}

class Upscaling : public Tiles {
 protected:
  /// The image that a network of WIDTH x HEIGHT pixels makes of a frame of 110x70.
  std::vector<int> larger(int width, int height, int channels, int frame_width = 110, int frame_height = 70) {
    std::vector<std::uint8_t> pixels = colors(frame_width, frame_height);
    FrameSession session(test::load_on_cpu(test::write_bicubic(folder_, width, height, channels, "larger")));
    const Result& result = session.run(view_of(RgbView{pixels.data(), 3 * frame_width, frame_width, frame_height}));
    EXPECT_EQ(result.image.width, 3 * frame_width);
    EXPECT_EQ(result.image.height, 3 * frame_height);
    return bytes_of(result.image);
  }
};

TEST_F(Upscaling, OfTilesIsThatOfTheWholeWithoutASeam) {
  EXPECT_EQ(larger(48, 48, 3), larger(110, 70, 3));
  EXPECT_EQ(larger(50, 40, 3), larger(110, 70, 3));
}

TEST_F(Upscaling, OfAFrameSmallerThanATileIsThatOfTheFrame) {
  EXPECT_EQ(larger(48, 48, 3, 20, 30), larger(20, 30, 3, 20, 30));
  EXPECT_EQ(larger(48, 48, 3, 20, 60), larger(20, 60, 3, 20, 60));
}

TEST_F(Upscaling, OfTheLumaHasTheFramesColors) {
  const std::vector<int> luma = larger(48, 48, 1);
  const std::vector<int> rgb = larger(48, 48, 3);
  int most = 0;
  for (std::size_t i = 0; i < rgb.size(); ++i) most = std::max(most, std::abs(luma[i] - rgb[i]));
  EXPECT_LE(most, 2) << "bicubic interpolation of luma and chroma is that of the colours, but for rounding";
}

}  // namespace
}  // namespace saccade
