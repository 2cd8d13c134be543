#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "emulator_calls.hpp"
#include "pipeline/stream/pipeline_impl.hpp"
#include "result_text.hpp"
#include "saccade/error.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

// Pipelines on a GPU give the same results as elsewhere, whatever runs concurrently.
namespace saccade {
namespace {

using test::Act;
using test::scripted_source;
using test::text_of;
using test::texts_of;
using Calls = std::vector<std::string>;

class CudaPipeline : public testing::Test {
 protected:
  Model boxes(const Device& device, std::optional<Region> roi = {}) {
    ModelOptions options;
    options.device = device;
    options.roi = roi;
    return Model::load(test::write_box_detector(folder_), options);
  }
  Model colors(const Device& device) {
    ModelOptions options;
    options.device = device;
    return Model::load(test::write_color_classifier(folder_), options);
  }

  test::TempFolder folder_;
  test::EmulatorCalls calls_;
};

TEST_F(CudaPipeline, EqualsTheReference) {
  for (bool live : {false, true}) {
    SCOPED_TRACE(live);
    const auto results_on = [&](const Device& device) {
      Pipeline pipeline({scripted_source("a", test::frames(5), live)}, {boxes(device), colors(device)},
                        {.drop = DropPolicy::kWait});
      auto texts = texts_of(pipeline);
      EXPECT_EQ(pipeline.summary().ledger.processed, 5);
      EXPECT_EQ(pipeline.summary().ledger.in_flight(), 0);
      return texts;
    };
    EXPECT_EQ(results_on(Device::cuda()), results_on(Device::reference()));
  }
}

TEST_F(CudaPipeline, TakesBothModelsWithOneLaunchAndOneWaitAFrame) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  constexpr int kFrames = 6;
  Pipeline pipeline({scripted_source("a", test::frames(kFrames))}, {boxes(Device::cuda()), colors(Device::cuda())},
                    {.queue = 8});
  while (pipeline.summary().ledger.captured < kFrames) std::this_thread::yield();
  calls_.forget();
  texts_of(pipeline);
  Calls calls = calls_.since();
  std::erase(calls, "cuMemAlloc_v2");  // reuses the first frame's buffer
  // The classifier's tables of interpolation weights, once for frames of this size.
  EXPECT_EQ(std::erase(calls, "cuMemcpyHtoD_v2"), 1U);
  EXPECT_EQ(std::ranges::count(calls, "cuGraphLaunch"), kFrames);
  EXPECT_EQ(std::ranges::count(calls, "cuStreamSynchronize"), kFrames);
  EXPECT_EQ(calls.size(), 2U * kFrames);
}

/// Of three frames one is read, one is complete, and the third has begun.
TEST_F(CudaPipeline, BeginsTheNextFrameBeforeTheLastOnesResultIsSeen) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver logs its calls";
  for (bool live : {false, true}) {
    calls_.forget();
    Pipeline pipeline(scripted_source("a", test::frames(3), live), colors(Device::cuda()),
                      {.drop = DropPolicy::kWait, .queue = 8});
    ASSERT_TRUE(pipeline.next());
    const auto launches = [this] { return std::ranges::count(calls_.since(), "cuGraphLaunch"); };
    constexpr std::chrono::seconds kLong{60};
    const auto start = std::chrono::steady_clock::now();
    while (launches() < 3 && std::chrono::steady_clock::now() - start < kLong) std::this_thread::yield();
    EXPECT_EQ(launches(), 3);
  }
}

TEST_F(CudaPipeline, AccountsForTheFrameThatItRanAhead) {
  Pipeline pipeline(scripted_source("a", test::frames(1000)), colors(Device::cuda()),
                    {.drop = DropPolicy::kWait, .queue = 8});
  ASSERT_TRUE(pipeline.next());
  while (pipeline.summary().ledger.captured < 8) std::this_thread::yield();
  ASSERT_TRUE(pipeline.next());
  pipeline.stop();
  EXPECT_EQ(pipeline.next().failure().status, Status::kCancelled);
  const Ledger ledger = pipeline.summary().ledger;
  EXPECT_EQ(ledger.processed, 2);
  EXPECT_EQ(ledger.stopped, ledger.captured - 2);
  EXPECT_EQ(ledger.in_flight(), 0);
}

TEST_F(CudaPipeline, NamesTheModelThatCannotTakeAFrame) {
  Pipeline pipeline({scripted_source("a", test::frames(2))},
                    {colors(Device::cuda()), boxes(Device::cuda(), Region{100, 100, 10, 10})});
  for (int frame = 0; frame < 2; ++frame) {
    EXPECT_TRUE(pipeline.next());
    const auto result = pipeline.next();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.failure().status, Status::kFailed);
    EXPECT_NE(result.failure().message.find(fmt::format("a, frame {}: boxes: ", frame)), std::string::npos);
  }
  EXPECT_EQ(pipeline.next().failure().status, Status::kEnd);
  EXPECT_EQ(pipeline.summary().ledger.failed, 2);
}

/// A classifier that looks its scores up by an image's brightness, 0 to 100, with a score for black alone.
std::string write_lookup(const test::TempFolder& folder) {
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("scores");
  model.initializer(onnx_writer::tensor<float>("hundred", {1}, {100}));
  model.initializer(onnx_writer::tensor<float>("table", {1}, {1}));
  model.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "Mul", .inputs = {"mean", "hundred"}, .outputs = {"scaled"}, .name = "scale"});
  model.node({.op = "Flatten", .inputs = {"scaled"}, .outputs = {"flat"}, .name = "flatten"});
  model.node({.op = "Cast",
              .inputs = {"flat"},
              .outputs = {"indices"},
              .attributes = {onnx_writer::attribute("to", 7)},
              .name = "cast"});
  model.node({.op = "Gather", .inputs = {"table", "indices"}, .outputs = {"scores"}, .name = "lookup"});
  model.save(folder / "lookup.onnx");
  test::write_color_card(folder, "lookup");
  return folder / "lookup.onnx";
}

TEST_F(CudaPipeline, NamesTheModelThatFailsOnAFrame) {
  ModelOptions options;
  options.device = Device::cuda();
  const Model lookup = Model::load(write_lookup(folder_), options);
  Pipeline pipeline({scripted_source("a", test::frames(2))}, {colors(Device::cuda()), lookup, boxes(Device::cuda())});
  for (int frame = 0; frame < 2; ++frame) {
    EXPECT_TRUE(pipeline.next()) << "what another model can't do";
    const auto result = pipeline.next();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.failure().message.find(fmt::format("a, frame {}: lookup: node 'lookup' (Gather): index", frame)),
              0U)
        << result.failure().message;
  }
  EXPECT_EQ(pipeline.next().failure().status, Status::kEnd);
  EXPECT_EQ(pipeline.summary().ledger.failed, 2);
}

TEST_F(CudaPipeline, RunsBesideAnotherInItsThread) {
  const std::vector<Model> models{boxes(Device::cuda()), colors(Device::cuda())};
  Pipeline expected({scripted_source("a", test::frames(8))}, models);
  const auto wanted = texts_of(expected);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      Pipeline pipeline({scripted_source("a", test::frames(8))}, models);
      EXPECT_EQ(texts_of(pipeline), wanted);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaPipeline, MixesDevices) {
  Pipeline pipeline({scripted_source("a", test::frames(3))}, {boxes(Device::cuda()), colors(Device::reference())});
  Pipeline expected({scripted_source("a", test::frames(3))}, {boxes(Device::reference()), colors(Device::reference())});
  EXPECT_EQ(texts_of(pipeline), texts_of(expected));
}

}  // namespace
}  // namespace saccade
