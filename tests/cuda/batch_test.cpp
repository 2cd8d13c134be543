#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "emulator_calls.hpp"
#include "pipeline/stream/pipeline_impl.hpp"
#include "result_text.hpp"
#include "saccade/error.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

// Batches of frames on a GPU.
namespace saccade {
namespace {

using test::scripted_source;
using test::texts_of;

class CudaBatch : public testing::Test {
 protected:
  Model colors(const Device& device, const std::string& name = "color", const ModelOptions& given = {}) {
    ModelOptions options = given;
    options.device = device;
    return Model::load(test::write_color_classifier(folder_, name), options);
  }
  Model map(const Device& device) {
    ModelOptions options;
    options.device = device;
    return Model::load(test::write_color_mapper(folder_), options);
  }

  test::TempFolder folder_;
  test::EmulatorCalls calls_;
};

TEST_F(CudaBatch, EqualsTheReferenceFrameByFrame) {
  const auto results_on = [&](const Device& device, std::size_t batch) {
    Pipeline pipeline(
        {Source::open("synthetic:?size=64x48&frames=7&seed=1"), Source::open("synthetic:?size=32x32&frames=4&seed=2")},
        {colors(device), map(device)}, {.batch = batch});
    auto texts = texts_of(pipeline);
    EXPECT_EQ(pipeline.summary().ledger.processed, 11);
    EXPECT_EQ(pipeline.summary().ledger.in_flight(), 0);
    std::ranges::sort(texts);
    return texts;
  };
  const auto wanted = results_on(Device::reference(), 1);
  EXPECT_EQ(results_on(Device::cuda(), 3), wanted);
}

TEST_F(CudaBatch, IsOneLaunchAndOneWait) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  constexpr int kFrames = 8;
  Pipeline pipeline({scripted_source("a", test::frames(kFrames))}, {colors(Device::cuda())}, {.queue = 8, .batch = 4});
  while (pipeline.summary().ledger.captured < kFrames) std::this_thread::yield();
  calls_.forget();
  texts_of(pipeline);
  const auto calls = calls_.since();
  EXPECT_EQ(std::ranges::count(calls, "cuGraphLaunch"), 2);
  EXPECT_EQ(std::ranges::count(calls, "cuStreamSynchronize"), 2);
}

/// Its region of interest lies outside of the frames.
TEST_F(CudaBatch, AModelThatCannotTakeThemIsNamedForEach) {
  Pipeline pipeline({scripted_source("a", test::frames(3))},
                    {colors(Device::cuda()), colors(Device::cuda(), "second", {.roi = Region{100, 100, 10, 10}})},
                    {.batch = 2});
  for (int frame = 0; frame < 3; ++frame) {
    EXPECT_TRUE(pipeline.next());
    const auto result = pipeline.next();
    ASSERT_FALSE(result);
    EXPECT_NE(result.failure().message.find("second"), std::string::npos) << result.failure().message;
  }
}

/// Each branch has a stream, beside that of each plan.
TEST_F(CudaBatch, ImagesArePreprocessedInBranches) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  const auto streams_with = [&](std::size_t batch) {
    calls_.forget();
    const Pipeline pipeline({scripted_source("a", test::frames(1))}, {colors(Device::cuda())}, {.batch = batch});
    return std::ranges::count(calls_.since(), "cuStreamCreate");
  };
  const auto plans_for_one = streams_with(1);
  EXPECT_GE(streams_with(2), plans_for_one + 1 + 2);
}

/// What is there already is compared with the new bytes, and taken.
TEST_F(CudaBatch, PlansShareTheirWeights) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  constexpr std::int64_t kNumbers = 20'000;
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("embedding");
  model.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "Flatten", .inputs = {"mean"}, .outputs = {"flat"}, .name = "flatten"});
  model.initializer(onnx_writer::tensor<float>("weights", {3, kNumbers}, std::vector<float>(3 * kNumbers, 0.5F)));
  model.node({.op = "MatMul", .inputs = {"flat", "weights"}, .outputs = {"embedding"}, .name = "multiply"});
  model.save(folder_ / "embed.onnx");
  folder_.write("embed.toml", "[input]\nresize = \"stretch\"\n[output]\ndecoder = \"embed\"\n");
  ModelOptions options;
  options.device = Device::cuda();
  const auto comparisons_with = [&](std::size_t batch) {
    calls_.forget();
    Pipeline pipeline({scripted_source("a", test::frames(3))}, {Model::load(folder_ / "embed.onnx", options)},
                      {.batch = batch});
    const auto count = std::ranges::count(calls_.since(), "cuMemcpyDtoHAsync_v2");
    EXPECT_EQ(test::drain(pipeline), 3);
    return count;
  };
  EXPECT_EQ(comparisons_with(1), 0);
  EXPECT_GE(comparisons_with(2), 1);
}

}  // namespace
}  // namespace saccade
