#include <gtest/gtest.h>

#include <mutex>

#include "cuda/result_text.hpp"
#include "decoded.hpp"
#include "emulated.hpp"
#include "media/encode.hpp"
#include "saccade/saccade.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

// Models, sinks and trackers on frames that a GPU has decoded.
namespace saccade {
namespace {

using test::Decoded;
using test::texts_of;

constexpr std::size_t kFrames = 12;

/// Keeps the pixels of each frame, or does not look at them.
class PixelSink final : public Sink {
 public:
  PixelSink(std::vector<std::vector<std::uint8_t>>& pixels, bool looks) : pixels_(pixels), looks_(looks) {}
  void write(const Result& /*result*/, const FrameView& frame) override {
    if (looks_) pixels_.push_back(test::nv12_samples(frame));
    if (!looks_) pixels_.emplace_back();
  }
  void close(const Summary& /*summary*/) override {}
  bool reads_pixels() const override { return looks_; }

 private:
  std::vector<std::vector<std::uint8_t>>& pixels_;
  bool looks_;
};

class NvdecPipeline : public testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_ / "a.mp4";
    ASSERT_TRUE(test::encode_video(path_, "mp4", "libx264", kFrames));
  }
  Model colors(const Device& device, const ModelOptions& from = {}) {
    ModelOptions options = from;
    options.device = device;
    return Model::load(test::write_color_classifier(folder_), options);
  }
  Model boxes(const Device& device, const ModelOptions& from = {}) {
    ModelOptions options = from;
    options.device = device;
    return Model::load(test::write_box_detector(folder_), options);
  }
  std::vector<std::string> texts(const std::vector<Model>& models, Decoding decoding) {
    Pipeline pipeline({Source::open(path_, {.decode = decoding})}, models);
    auto texts = texts_of(pipeline);
    const Ledger& ledger = pipeline.summary().ledger;
    EXPECT_EQ(ledger.processed, static_cast<std::int64_t>(kFrames));
    EXPECT_EQ(ledger.in_flight(), 0);
    return texts;
  }
  /// What a sink gets that looks at pixels, or does not.
  std::vector<std::vector<std::uint8_t>> written(bool looks, Decoding decoding) {
    std::vector<std::vector<std::uint8_t>> pixels;
    std::vector<PipelineSink> sinks;
    sinks.push_back({"pixels", std::make_unique<PixelSink>(pixels, looks)});
    Pipeline pipeline({Source::open(path_, {.decode = decoding})}, {colors(Device::cuda())}, {}, std::move(sinks));
    texts_of(pipeline);
    pipeline.finish();
    return pixels;
  }

  test::TempFolder folder_;
  test::EmulatedCalls nvcuvid_{"libnvcuvid.so.1"};
  test::EmulatedCalls driver_{"libcuda.so.1"};
  std::string path_;
};

TEST_F(NvdecPipeline, ResultsAreThoseOfFramesFromTheCpu) {
  const std::vector<Model> one = {colors(Device::cuda())};
  const std::vector<Model> two = {boxes(Device::cuda()), colors(Device::cuda())};
  for (const auto& models : {one, two}) {
    const auto maps = [this] { return nvcuvid_ ? nvcuvid_.count("cuvidMapVideoFrame64") : 0; };
    const auto before = maps();
    const auto cpu = texts(models, Decoding::kCpu);
    EXPECT_EQ(maps(), before);
    EXPECT_EQ(texts(models, Decoding::kAuto), cpu);
    if (nvcuvid_) {
      EXPECT_EQ(maps(), before + static_cast<std::ptrdiff_t>(kFrames));
    }
  }
}

TEST_F(NvdecPipeline, ModelsOnTheCpuGetCopies) {
  const std::vector<Model> models = {colors(Device::cpu())};
  EXPECT_EQ(texts(models, Decoding::kCuda), texts(models, Decoding::kCpu));
}

TEST_F(NvdecPipeline, ModelsOfBothDevicesSeeTheSameFrame) {
  const std::vector<Model> models = {colors(Device::cuda()), boxes(Device::cpu())};
  EXPECT_EQ(texts(models, Decoding::kAuto), texts(models, Decoding::kCpu));
}

TEST_F(NvdecPipeline, TilesAreCutOnTheGpu) {
  ModelOptions options;
  options.tiles = TileOptions{.size = 96};
  const std::vector<Model> models = {boxes(Device::cuda(), options)};
  const auto downloads = [this] { return driver_ ? driver_.count("cuMemcpyDtoHAsync_v2") : 0; };
  const auto cpu = texts(models, Decoding::kCpu);
  const auto before = downloads();
  EXPECT_EQ(texts(models, Decoding::kAuto), cpu);
  EXPECT_EQ(downloads(), before);
}

TEST_F(NvdecPipeline, TheMotionOfTheCameraIsSeenInCopies) {
  ModelOptions options;
  options.post.tracker = TrackerOptions{.camera = true};
  const std::vector<Model> models = {boxes(Device::cuda(), options)};
  EXPECT_EQ(texts(models, Decoding::kAuto), texts(models, Decoding::kCpu));
}

TEST_F(NvdecPipeline, OnlySinksThatLookGetCopies) {
  const auto downloads = [this] { return driver_ ? driver_.count("cuMemcpyDtoHAsync_v2") : 0; };
  const auto cpu = written(true, Decoding::kCpu);
  ASSERT_EQ(cpu.size(), kFrames);
  const auto before = downloads();
  EXPECT_EQ(written(false, Decoding::kAuto).size(), kFrames);
  EXPECT_EQ(downloads(), before);
  EXPECT_TRUE(written(true, Decoding::kAuto) == cpu);
  if (driver_) {
    EXPECT_EQ(downloads(), before + static_cast<std::ptrdiff_t>(kFrames));
  }
}

TEST_F(NvdecPipeline, TheCallerOfNextGetsTheFrameOnTheHost) {
  Pipeline gpu(Source::open(path_, {.decode = Decoding::kAuto}), colors(Device::cuda()));
  Pipeline cpu(Source::open(path_, {.decode = Decoding::kCpu}), colors(Device::cuda()));
  for (std::size_t i = 0; i < kFrames; ++i) {
    ASSERT_TRUE(gpu.next());
    ASSERT_TRUE(cpu.next());
    ASSERT_NE(gpu.frame().memory, MemoryKind::kDevice);
    EXPECT_TRUE(test::nv12_samples(gpu.frame()) == test::nv12_samples(cpu.frame())) << i;
  }
}

TEST_F(NvdecPipeline, FramesStayWithinTheLimitOfMemory) {
  ModelOptions options;
  options.max_memory = 1 << 20;
  Pipeline pipeline(Source::open(path_, {.decode = Decoding::kAuto}), colors(Device::cuda(), options));
  EXPECT_EQ(texts_of(pipeline).size(), kFrames);
}

TEST_F(NvdecPipeline, AChildProcessDecodesOnTheCpu) {
  EXPECT_THROW(Source::open(path_, {.isolate = true, .decode = Decoding::kCuda}), Error);
}

}  // namespace
}  // namespace saccade
