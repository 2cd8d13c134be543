#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "op_case/op_case.hpp"
#include "runtime/cpu_backend.hpp"
#include "support/mosaic_frame.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

/// An image of noise whose planes end where their last row does, so that a sanitizer sees a read past it.
class Noise {
 public:
  Noise(PixelFormat format, int width, int height, int padding = 0) {
    view_.format = format;
    view_.width = width;
    view_.height = height;
    std::mt19937 random(7);
    const auto sizes = plane_sizes(format, width, height);
    for (std::size_t i = 0; i < sizes.size() && sizes[i].rows > 0; ++i) {
      view_.pitch_bytes[i] = sizes[i].row_bytes + padding;
      planes_[i].resize(static_cast<std::size_t>(view_.pitch_bytes[i] * (sizes[i].rows - 1) + sizes[i].row_bytes));
      for (std::uint8_t& sample : planes_[i]) sample = static_cast<std::uint8_t>(random());
      view_.planes[i] = planes_[i].data();
    }
  }
  FrameView& view() { return view_; }
  Tensor tensor() const {
    Tensor frame(DType::kFrame, {});
    std::memcpy(frame.raw(), &view_, sizeof view_);
    return frame;
  }

 private:
  std::array<std::vector<std::uint8_t>, 3> planes_;
  FrameView view_;
};

template <typename Image>
OpCase preprocess(const Image& noise, int width, int height, const std::string& resize, const std::string& color) {
  OpCase op("Preprocess", "saccade");
  op.input(noise.tensor()).outputs(2);
  op.attribute("width", std::int64_t{width}).attribute("height", std::int64_t{height});
  op.attribute("resize", resize).attribute("color", color);
  op.attribute("pad", std::vector<std::int64_t>{114, 1, 2});
  op.attribute("scale", std::vector<float>{1 / 255.0F, 1 / 58.0F, 0.5F});
  op.attribute("bias", std::vector<float>{-0.1F, -2.1F, 3});
  return op;
}

class VectorPreprocess : public ::testing::TestWithParam<PixelFormat> {};

TEST_P(VectorPreprocess, EqualsTheReferenceInEveryMode) {
  const Noise noise(GetParam(), 61, 43, 5);
  for (const char* resize : {"stretch", "letterbox", "letterbox-topleft", "resize-crop", "resize-crop-floor"})
    for (const char* color : {"rgb", "bgr", "gray"})
      preprocess(noise, 50, 70, resize, color).check_layouts(on_cpu("vector.preprocess"), kExact);
}

TEST_P(VectorPreprocess, MakesHalves) {
  const Noise noise(GetParam(), 61, 43, 5);
  for (const char* color : {"rgb", "bgr", "gray"})
    for (const char* kind : {"bilinear", "area"})
      preprocess(noise, 50, 70, "letterbox", color)
          .attribute("interpolation", std::string(kind))
          .attribute("to", std::int64_t{16})
          .check_layouts(on_cpu("vector.preprocess"), kExact);
}

TEST_P(VectorPreprocess, EqualsTheReferenceAtEveryScale) {
  struct Case {
    int width, height, to_width, to_height;
  };
  // Twice and three times smaller, the same, larger, one pixel, one column, less than a vector.
  for (const Case& size : {Case{64, 40, 32, 20},
                           {96, 60, 32, 20},
                           {33, 17, 33, 17},
                           {9, 5, 70, 33},
                           {1, 1, 20, 20},
                           {1, 50, 20, 20},
                           {50, 1, 3, 20},
                           {2, 2, 1, 1},
                           {3, 3, 37, 2}})
    preprocess(Noise(GetParam(), size.width, size.height), size.to_width, size.to_height, "stretch", "rgb")
        .check_layouts(on_cpu("vector.preprocess"), kExact);
}

TEST_P(VectorPreprocess, EqualsTheReferenceInARegion) {
  const Noise noise(GetParam(), 41, 31);
  for (const auto& roi : {std::vector<std::int64_t>{3, 5, 21, 11}, {0, 0, 1, 1}, {40, 30, 9, 9}, {39, 1, 2, 30}})
    preprocess(noise, 24, 24, "letterbox", "bgr")
        .attribute("roi", roi)
        .check_layouts(on_cpu("vector.preprocess"), kExact);
}

TEST_P(VectorPreprocess, EqualsTheReferenceInEveryInterpolation) {
  for (const char* kind : {"bilinear-antialias", "bicubic", "bicubic-antialias", "area", "nearest"}) {
    SCOPED_TRACE(kind);
    const auto check = [&](const Noise& noise, int width, int height, const std::string& resize) {
      preprocess(noise, width, height, resize, "rgb")
          .attribute("interpolation", std::string(kind))
          .check_layouts(on_cpu("vector.preprocess"), kExact);
    };
    check(Noise(GetParam(), 61, 43, 5), 50, 70, "letterbox");
    check(Noise(GetParam(), 97, 143), 21, 18, "resize-crop");
    check(Noise(GetParam(), 200, 5), 3, 4, "stretch");
    check(Noise(GetParam(), 64, 32), 32, 16, "stretch");
    check(Noise(GetParam(), 1, 1), 5, 5, "stretch");
  }
}

TEST_P(VectorPreprocess, FiltersARegion) {
  for (const char* kind : {"bilinear-antialias", "bicubic", "area"})
    preprocess(Noise(GetParam(), 41, 31), 9, 7, "letterbox", "bgr")
        .attribute("roi", std::vector<std::int64_t>{3, 5, 21, 11})
        .attribute("interpolation", std::string(kind))
        .check_layouts(on_cpu("vector.preprocess"), kExact);
}

INSTANTIATE_TEST_SUITE_P(Formats, VectorPreprocess, ::testing::ValuesIn(kPixelFormats),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(VectorPreprocess, KnowsEveryMatrixAndRange) {
  Noise noise(PixelFormat::kI420, 30, 20);
  for (ColorMatrix matrix : {ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020})
    for (ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
      noise.view().matrix = matrix;
      noise.view().range = range;
      preprocess(noise, 30, 20, "stretch", "rgb").check(on_cpu("vector.preprocess"), kExact);
    }
}

TEST(VectorPreprocess, RunsOnTwoThreads) {
  preprocess(Noise(PixelFormat::kI420, 64, 48), 400, 400, "letterbox", "rgb")
      .check_two_threads(on_cpu("vector.preprocess"), Layout::kChannelsLast, kExact);
}

TEST(VectorPreprocess, FiltersOnTwoThreads) {
  preprocess(Noise(PixelFormat::kI420, 640, 480), 400, 400, "letterbox", "rgb")
      .attribute("interpolation", std::string("bicubic-antialias"))
      .check_two_threads(on_cpu("vector.preprocess"), Layout::kChannelsLast, kExact);
}

TEST(VectorPreprocess, DemosaicsOnTwoThreads) {
  for (const char* kind : {"bilinear", "bicubic-antialias"})
    preprocess(Noise(PixelFormat::kBayerGrbg8, 641, 480), 400, 400, "letterbox", "rgb")
        .attribute("interpolation", std::string(kind))
        .check_two_threads(on_cpu("vector.preprocess"), Layout::kChannelsLast, kExact);
}

TEST(VectorPreprocess, EqualsTheReferenceOnRandomMosaics) {
  const std::array kinds = {"bilinear", "bilinear-antialias", "bicubic", "bicubic-antialias", "area", "nearest"};
  const std::array modes = {"stretch", "letterbox", "letterbox-topleft", "resize-crop", "resize-crop-floor"};
  std::mt19937 random(3);
  const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int i = 0; i < 200; ++i) {
    const PixelFormat format = test::kMosaics[static_cast<std::size_t>(i % 4)];
    const int width = 1 + up_to(i % 8 == 0 ? 3 : 200);
    const int height = 1 + up_to(60);
    const std::vector<std::int64_t> roi = {up_to(width), up_to(height), 1 + up_to(width), 1 + up_to(height)};
    const char* kind = kinds[random() % kinds.size()];
    const char* mode = modes[random() % modes.size()];
    SCOPED_TRACE(
        fmt::format("{} {}x{}, {}, {}, roi {}", to_string(format), width, height, kind, mode, fmt::join(roi, ",")));
    const Noise noise(format, width, height, up_to(9));
    OpCase op = preprocess(noise, 1 + up_to(80), 1 + up_to(60), mode, "rgb");
    op.attribute("interpolation", std::string(kind));
    if (i % 2 == 0) op.attribute("roi", roi);
    op.check(on_cpu("vector.preprocess"), kExact);
  }
}

TEST(VectorPreprocess, ReadsNothingBesideAMosaic) {
  for (const PixelFormat format : test::kMosaics)
    for (const int width : {1, 2, 31, 34, 66, 131})
      for (const int height : {1, 2, 9})
        for (const bool at_end : {true, false})
          for (const char* kind : {"bilinear", "area"}) {
            const test::MosaicFrame frame(format, width, height, at_end, height % 2 * 5);
            preprocess(frame, width, 9, "stretch", "rgb")
                .attribute("interpolation", std::string(kind))
                .check(on_cpu("vector.preprocess"), kExact);
          }
}

void expect_frames_in_turn(const std::string& interpolation) {
  Graph graph;
  Node node{.domain = "saccade", .op = "Preprocess", .name = "pixels"};
  node.attributes.set("width", std::int64_t{40});
  node.attributes.set("height", std::int64_t{40});
  node.attributes.set("resize", std::string("letterbox"));
  node.attributes.set("interpolation", interpolation);
  node.inputs = {graph.add_input("frame", {DType::kFrame, {}})};
  node.outputs = {graph.add_value("tensor", {DType::kFloat32, {1, 3, 40, 40}})};
  const NodeId id = graph.add_node(std::move(node));
  const NodeContext context{.graph = graph, .node = graph.node(id), .threads = 2};
  const Tactic* tactic = nullptr;
  for (const Tactic* candidate : cpu_backend().tactics())
    if (candidate->name() == "vector.preprocess") tactic = candidate;
  ASSERT_NE(tactic, nullptr);
  const auto launch = tactic->compile(context);
  Tensor frame(DType::kFrame, {});
  Tensor out(DType::kFloat32, {1, 3, 40, 40});
  const std::array inputs = {view_of(frame)};
  const std::array outputs = {view_of(out)};
  const auto bound = launch->bind({.inputs = inputs, .outputs = outputs});
  for (const auto& [width, height] : {std::pair{30, 20}, {90, 120}, {30, 20}, {20, 30}, {1, 1}})
    for (PixelFormat format : kPixelFormats) {
      const Noise noise(format, width, height);
      const Tensor now = noise.tensor();
      std::memcpy(frame.raw(), now.raw(), now.bytes());
      bound->run();
      Tensor wanted(DType::kFloat32, {1, 3, 40, 40});
      const std::array expected = {view_of(wanted)};
      find_op("saccade", "Preprocess")->reference(KernelContext(context.node, inputs, expected));
      ASSERT_EQ(0, std::memcmp(out.raw(), wanted.raw(), wanted.bytes())) << to_string(format) << width << 'x' << height;
    }
}

TEST(VectorPreprocess, TakesFramesOfAnySizeAndFormatInTurn) {
  expect_frames_in_turn("bilinear");
  expect_frames_in_turn("bilinear-antialias");
}

}  // namespace
}  // namespace saccade
