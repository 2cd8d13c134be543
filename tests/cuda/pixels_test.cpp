#include <cstring>
#include <random>

#include "base/error.hpp"
#include "op_case/op_case.hpp"
#include "ops/interpreter/infer.hpp"
#include "ops/interpreter/interpret.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

/// Random samples; rows PADDING bytes apart.
class NoiseFrame {
 public:
  NoiseFrame(PixelFormat format, int width, int height, int padding = 0) {
    std::mt19937 random(static_cast<std::uint32_t>(width * 31 + height));
    view_.format = format;
    view_.width = width;
    view_.height = height;
    const auto sizes = plane_sizes(format, width, height);
    for (std::size_t i = 0; i < 3; ++i) {
      if (sizes[i].rows == 0) continue;
      view_.pitch_bytes[i] = sizes[i].row_bytes + padding;
      samples_[i].resize(static_cast<std::size_t>(view_.pitch_bytes[i] * sizes[i].rows));
      for (std::uint8_t& sample : samples_[i]) sample = static_cast<std::uint8_t>(random());
      view_.planes[i] = samples_[i].data();
    }
  }

  FrameView& view() { return view_; }
  /// Bottom-up: negative pitch.
  NoiseFrame& turn() {
    const auto sizes = plane_sizes(view_.format, view_.width, view_.height);
    for (std::size_t i = 0; i < 3; ++i) {
      if (sizes[i].rows == 0) continue;
      view_.planes[i] += static_cast<std::ptrdiff_t>(view_.pitch_bytes[i]) * (sizes[i].rows - 1);
      view_.pitch_bytes[i] = -view_.pitch_bytes[i];
    }
    return *this;
  }
  /// In MEMORY, which outlives the test, each plane MISALIGNED bytes off its aligned address.
  NoiseFrame& move_to(FrameMemory& memory, std::size_t misaligned = 0) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (samples_[i].empty()) continue;
      auto* to = reinterpret_cast<std::uint8_t*>(memory.allocate(samples_[i].size() + misaligned)) + misaligned;
      std::memcpy(to, samples_[i].data(), samples_[i].size());
      view_.planes[i] = to;
    }
    view_.memory = memory.kind();
    return *this;
  }
  Tensor tensor() const {
    Tensor frame(DType::kFrame, {});
    std::memcpy(frame.raw(), &view_, sizeof view_);
    return frame;
  }

 private:
  std::array<std::vector<std::uint8_t>, 3> samples_;
  FrameView view_;
};

OpCase pixels(const NoiseFrame& frame, int width, int height, const std::string& resize = "stretch") {
  OpCase made("Preprocess", "saccade");
  made.input(frame.tensor()).outputs(2);
  made.attribute("width", std::int64_t{width}).attribute("height", std::int64_t{height}).attribute("resize", resize);
  made.attribute("scale", std::vector<float>{1 / 58.395F, 1 / 57.12F, 1 / 57.375F});
  made.attribute("bias", std::vector<float>{-2.1179F, -2.0357F, -1.8044F});
  made.attribute("pad", std::vector<std::int64_t>{114, 113, 112});
  return made;
}

TEST(CudaPixels, ReadEveryFormatExactly) {
  for (PixelFormat format : kPixelFormats) {
    SCOPED_TRACE(to_string(format));
    pixels(NoiseFrame(format, 46, 30), 37, 41).check_layouts(on_cuda("pixels"), kExact);
    pixels(NoiseFrame(format, 37, 23, 5), 64, 48, "letterbox").check(on_cuda("pixels"), kExact);
  }
}

TEST(CudaPixels, MakeHalves) {
  for (const std::int64_t type : {10, 16})
    for (const char* kind : {"bilinear", "area"})
      pixels(NoiseFrame(PixelFormat::kNv12, 46, 30), 37, 41, "letterbox")
          .attribute("interpolation", std::string(kind))
          .attribute("to", type)
          .check_layouts(on_cuda("pixels"), kExact);
}

TEST(CudaPixels, InterpolateInEveryWay) {
  for (const char* kind : {"bilinear-antialias", "bicubic", "bicubic-antialias", "area", "nearest"}) {
    SCOPED_TRACE(kind);
    const auto check = [&](const NoiseFrame& frame, int width, int height, const std::string& resize) {
      pixels(frame, width, height, resize)
          .attribute("interpolation", std::string(kind))
          .check_layouts(on_cuda("pixels"), kExact);
    };
    for (PixelFormat format : kPixelFormats) check(NoiseFrame(format, 97, 61), 37, 21, "letterbox");
    check(NoiseFrame(PixelFormat::kI420, 9, 7), 40, 20, "resize-crop");
    check(NoiseFrame(PixelFormat::kRgb24, 300, 5), 3, 9, "stretch");
    check(NoiseFrame(PixelFormat::kNv12, 1, 1), 5, 5, "stretch");
  }
}

TEST(CudaPixels, TakeMatrixAndRangeFromTheFrame) {
  for (ColorMatrix matrix : {ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020})
    for (ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
      NoiseFrame frame(PixelFormat::kNv12, 40, 40);
      frame.view().matrix = matrix;
      frame.view().range = range;
      pixels(frame, 20, 20).check(on_cuda("pixels"), kExact);
    }
}

TEST(CudaPixels, PlaceTheImageInEveryMode) {
  for (const char* resize : {"stretch", "letterbox", "letterbox-topleft", "resize-crop", "resize-crop-floor"}) {
    SCOPED_TRACE(resize);
    pixels(NoiseFrame(PixelFormat::kRgb24, 71, 40), 33, 35, resize).check(on_cuda("pixels"), kExact);
    pixels(NoiseFrame(PixelFormat::kI420, 3, 211), 40, 40, resize).check(on_cuda("pixels"), kExact);
    pixels(NoiseFrame(PixelFormat::kYuyv, 50, 40), 40, 32, resize)
        .attribute("roi", std::vector<std::int64_t>{7, 3, 90, 21})
        .check(on_cuda("pixels"), kExact);
  }
  pixels(NoiseFrame(PixelFormat::kGray8, 50, 40), 24, 20, "resize-crop")
      .attribute("resize_to", std::int64_t{32})
      .check(on_cuda("pixels"), kExact);
}

TEST(CudaPixels, MakeTheColorsOfMosaics) {
  for (const PixelFormat format : kPixelFormats) {
    if (!is_mosaic(format)) continue;
    SCOPED_TRACE(to_string(format));
    for (const char* kind : {"bilinear", "bicubic-antialias"})
      for (const auto& roi : {std::vector<std::int64_t>{3, 1, 20, 12}, {0, 5, 31, 16}, {30, 20, 1, 1}})
        pixels(NoiseFrame(format, 31, 21, 3), 33, 9)
            .attribute("interpolation", std::string(kind))
            .attribute("roi", roi)
            .check(on_cuda("pixels"), kExact);
    for (const auto& [width, height] : {std::pair(1, 1), {1, 7}, {7, 1}, {2, 2}, {3, 2}})
      pixels(NoiseFrame(format, width, height), 9, 9).check(on_cuda("pixels"), kExact);
  }
}

TEST(CudaPixels, OrderChannels) {
  for (const char* color : {"rgb", "bgr", "gray"})
    for (PixelFormat format : {PixelFormat::kRgb24, PixelFormat::kGray8, PixelFormat::kNv12, PixelFormat::kBayerGbrg8})
      pixels(NoiseFrame(format, 16, 16), 20, 9)
          .attribute("color", std::string(color))
          .check_layouts(on_cuda("pixels"), kExact);
}

TEST(CudaPixels, MakeTheTensorAlone) {
  pixels(NoiseFrame(PixelFormat::kBgr24, 16, 16), 5, 9).outputs(1).check(on_cuda("pixels"), kExact);
}

/// A graph of one Preprocess and its reference.
class PreprocessGraph {
 public:
  explicit PreprocessGraph(bool captured, const std::vector<std::int64_t>& roi = {},
                           const std::string& interpolation = "bilinear") {
    Node node{.domain = "saccade", .op = "Preprocess", .name = "pixels"};
    node.inputs.push_back(graph_.add_input("frame", {DType::kFrame, {}}));
    node.attributes.set("width", std::int64_t{48});
    node.attributes.set("height", std::int64_t{40});
    node.attributes.set("resize", std::string("letterbox"));
    node.attributes.set("interpolation", interpolation);
    if (!roi.empty()) node.attributes.set("roi", roi);
    node.outputs = {graph_.add_value("tensor"), graph_.add_value("geometry")};
    for (ValueId output : node.outputs) graph_.add_output(output);
    graph_.add_node(std::move(node));
    infer_types(graph_);
    execution_.emplace(Plan::compile(graph_, cuda_backend({.fallback = false, .graph = captured}), {}));
  }

  void expect_equal(const NoiseFrame& frame) {
    *execution_->frame() = *reinterpret_cast<const FrameView*>(frame.tensor().raw());
    execution_->run();
    const std::vector<Tensor> got = read_data_outputs(*execution_);
    const std::vector<Tensor> wanted = interpret(graph_, {{"frame", frame.tensor()}});
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(std::memcmp(got[i].raw(), wanted[i].raw(), wanted[i].bytes()), 0) << "output " << i;
  }
  Execution& execution() { return *execution_; }

 private:
  Graph graph_;
  std::optional<Execution> execution_;
};

TEST(CudaPixels, PackBottomUpRows) {
  pixels(NoiseFrame(PixelFormat::kI420, 33, 17, 100).turn(), 30, 30).check(on_cuda("pixels"), kExact);
  FrameMemory& memory = PreprocessGraph(true).execution().frame_memory();
  EXPECT_EQ(memory.kind(), MemoryKind::kPinned);
  for (int padding : {0, 3, 500})
    for (std::size_t misaligned : {0, 16, 3})
      pixels(NoiseFrame(PixelFormat::kI420, 34, 17, padding).move_to(memory, misaligned), 30, 30)
          .check(on_cuda("pixels"), kExact);
}

TEST(CudaPixels, TakeFramesOfAnySizeOneAfterTheOther) {
  for (const char* interpolation : {"bilinear", "bilinear-antialias"})
    for (bool captured : {true, false}) {
      PreprocessGraph pipeline(captured, {}, interpolation);
      pipeline.expect_equal({PixelFormat::kYuyv, 40, 30});
      pipeline.expect_equal({PixelFormat::kI420, 900, 700, 7});  // more than the kernel copies per grid
      pipeline.expect_equal({PixelFormat::kGray8, 9, 9});
      pipeline.expect_equal(NoiseFrame(PixelFormat::kRgb24, 1000, 31).move_to(pipeline.execution().frame_memory()));
      pipeline.expect_equal({PixelFormat::kBayerBggr8, 320, 123});
      pipeline.expect_equal({PixelFormat::kNv12, 321, 123});
    }
}

TEST(CudaPixels, GoOnAfterAFrameThatHasNoSuchRegion) {
  PreprocessGraph pipeline(true, {30, 0, 10, 10});
  const NoiseFrame right(PixelFormat::kRgb24, 50, 20);
  const NoiseFrame narrow(PixelFormat::kRgb24, 20, 20);
  pipeline.expect_equal(right);
  *pipeline.execution().frame() = *reinterpret_cast<const FrameView*>(narrow.tensor().raw());
  EXPECT_THROW(pipeline.execution().run(), Error);
  NoiseFrame elsewhere(PixelFormat::kRgb24, 50, 20);
  elsewhere.view().memory = MemoryKind::kDevice;
  *pipeline.execution().frame() = elsewhere.view();
  EXPECT_THROW(pipeline.execution().run(), Error);
  pipeline.expect_equal(right);
}

TEST(CudaPixels, CountInAProfile) {
  PreprocessGraph pipeline(true);
  std::vector<StepTime> times(pipeline.execution().plan().steps().size());
  pipeline.execution().time_steps(times);
  pipeline.expect_equal({PixelFormat::kRgb24, 64, 64});
  EXPECT_GE(times[0].end, times[0].start);
}

}  // namespace
}  // namespace saccade
