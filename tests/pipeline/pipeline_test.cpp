#include "pipeline/stream/pipeline_impl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "saccade/error.hpp"
#include "support/cpu_model.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using test::Act;
using test::drain;
using test::scripted_source;

class PipelineTest : public testing::Test {
 protected:
  Model boxes(const ModelOptions& options = {}) {
    return test::load_on_cpu(test::write_box_detector(folder_), options);
  }
  Model colors() { return test::load_on_cpu(test::write_color_classifier(folder_)); }

  test::TempFolder folder_;
};

void expect_balanced(const Summary& summary) {
  EXPECT_EQ(summary.ledger.in_flight(), 0);
  for (const StreamSummary& stream : summary.streams) EXPECT_EQ(stream.ledger.in_flight(), 0) << stream.source;
}

TEST_F(PipelineTest, EveryFrameGivesAResult) {
  Pipeline pipeline(scripted_source("a", test::frames(20)), boxes());
  std::int64_t next = 0;
  for (const Result& result : pipeline) {
    EXPECT_EQ(result.frame, next++);
    EXPECT_EQ(result.timestamp_ns, result.frame * 40'000'000);
    EXPECT_EQ(result.source, "a");
    EXPECT_EQ(result.model, "boxes");
    EXPECT_EQ(result.width, 16);
    EXPECT_EQ(result.height, 8);
    // The model sees the 16x8 frame as 8x8: boxes are scaled to twice the width.
    ASSERT_EQ(result.detections.size(), 2U);
    EXPECT_EQ(result.detections[0].box, (std::array<float, 4>{2, 2, 10, 6}));
    EXPECT_EQ(result.detections[0].class_name, "near");
    EXPECT_FLOAT_EQ(result.detections[0].confidence, 0.9F);
  }
  EXPECT_EQ(next, 20);
  EXPECT_EQ(pipeline.summary().ledger.processed, 20);
  expect_balanced(pipeline.summary());
}

TEST_F(PipelineTest, EveryModelSeesEveryFrame) {
  Pipeline pipeline({scripted_source("a", test::frames(3))}, {boxes(), colors()});
  std::vector<std::string> seen;
  for (const Result& result : pipeline) seen.push_back(std::string(result.model) + std::to_string(result.frame));
  EXPECT_EQ(seen, (std::vector<std::string>{"boxes0", "color0", "boxes1", "color1", "boxes2", "color2"}));
  EXPECT_EQ(pipeline.summary().ledger.processed, 3);
}

TEST_F(PipelineTest, ReportsTheTimestampsOfAFrame) {
  const Model model = boxes();
  Pipeline pipeline({scripted_source("a", test::frames(3))}, {model, colors()});
  std::vector<StepTime> steps(impl_of(model).vision_plan().plan->steps().size());
  impl_of(pipeline).run_one_by_one();
  impl_of(pipeline).time_steps(0, steps);
  ASSERT_TRUE(pipeline.next());
  const FrameTimes first = impl_of(pipeline).frame_times();
  EXPECT_EQ(first.captured - first.capture_start, std::chrono::microseconds(100));
  EXPECT_LE(first.captured, first.fetched);
  EXPECT_LE(first.requested, first.fetched);
  EXPECT_EQ(first.started, first.fetched);
  EXPECT_GE(steps[0].start, first.started);
  EXPECT_LE(steps[0].end, first.finished);
  // The second model runs on the same frame after the first, and its launches were not requested.
  std::fill(steps.begin(), steps.end(), StepTime());
  const auto second_result = pipeline.next();
  const FrameTimes second = impl_of(pipeline).frame_times();
  EXPECT_EQ(second.captured, first.captured);
  EXPECT_EQ(second.started, first.finished);
  EXPECT_EQ(second.finished - second.capture_start, second_result->latency.total);
  EXPECT_EQ(steps[0].start, Clock::time_point());
}

TEST_F(PipelineTest, ClassifiesAndLeavesOutWhatIsBelowTheConfidence) {
  ModelOptions options;
  options.post.confidence = 0.5F;
  Pipeline pipeline({scripted_source("a", test::frames(1))}, {boxes(options), colors()});
  EXPECT_EQ(pipeline.next()->detections.size(), 1U);
  const auto classified = pipeline.next();
  ASSERT_EQ(classified->classes.size(), 3U);
  EXPECT_NEAR(classified->classes[0].confidence, 1, 1e-4);
}

TEST_F(PipelineTest, KeepsTheSelectedClasses) {
  ModelOptions options;
  options.post.classes = {"far"};
  Pipeline pipeline(scripted_source("a", test::frames(1)), boxes(options));
  const auto result = pipeline.next();
  ASSERT_EQ(result->detections.size(), 1U);
  EXPECT_EQ(result->detections[0].class_name, "far");
}

TEST_F(PipelineTest, PassesOnThePostProcessingOptions) {
  ModelOptions options;
  options.post.agnostic = true;
  options.post.multi_label = true;
  options.post.max_detections = 7;
  const Model model = boxes(options);
  std::map<std::string, std::int64_t> passed;
  const Graph& graph = impl_of(model).vision_plan().plan->graph();
  for (const NodeId id : graph.order())
    for (const char* name : {"agnostic", "multi_label", "max_det"})
      if (const auto value = graph.node(id).attributes.integer(name, -1); value >= 0) passed[name] = value;
  EXPECT_EQ(passed, (std::map<std::string, std::int64_t>{{"agnostic", 1}, {"max_det", 7}, {"multi_label", 1}}));
}

TEST_F(PipelineTest, SourcesTakeTurnsAndEndOneByOne) {
  Pipeline pipeline({scripted_source("a", test::frames(2)), scripted_source("b", test::frames(5))}, {boxes()});
  EXPECT_EQ(drain(pipeline), 7);
  const Summary summary = pipeline.summary();
  EXPECT_EQ(summary.streams[0].ledger.processed, 2);
  EXPECT_EQ(summary.streams[1].ledger.processed, 5);
  expect_balanced(summary);
}

TEST_F(PipelineTest, CountsCorruptAndLostFrames) {
  Pipeline pipeline(scripted_source("a", {Act::kFrame, Act::kCorrupt, Act::kFrame, Act::kGap, Act::kGap, Act::kFrame}),
                    boxes());
  EXPECT_EQ(drain(pipeline), 3);
  const Ledger ledger = pipeline.summary().ledger;
  EXPECT_EQ(ledger.captured, 6);
  EXPECT_EQ(ledger.processed, 3);
  EXPECT_EQ(ledger.corrupt, 1);
  EXPECT_EQ(ledger.lost, 2);
  EXPECT_EQ(ledger.in_flight(), 0);
}

TEST_F(PipelineTest, NamesALostSourceAndGoesOnWithTheOthers) {
  Pipeline pipeline({scripted_source("good", test::frames(3)), scripted_source("bad", {Act::kFrame, Act::kLost})},
                    {boxes()});
  int results = 0;
  std::vector<std::string> faults;
  while (true) {
    const auto result = pipeline.next();
    if (result) {
      ++results;
      continue;
    }
    if (result.failure().status == Status::kEnd) break;
    EXPECT_EQ(result.failure().status, Status::kLost);
    faults.push_back(result.failure().message);
  }
  EXPECT_EQ(results, 4);
  EXPECT_EQ(faults, (std::vector<std::string>{"bad: unplugged"}));
  EXPECT_EQ(pipeline.summary().streams[1].fault, "unplugged");
  expect_balanced(pipeline.summary());
}

TEST_F(PipelineTest, TheLoopThrowsOnALostSource) {
  Pipeline pipeline(scripted_source("bad", {Act::kFrame, Act::kLost}), boxes());
  try {
    drain(pipeline);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDevice);
    EXPECT_STREQ(error.what(), "bad: unplugged");
  }
}

TEST_F(PipelineTest, ASourceOfDamagedFramesAloneIsAFault) {
  Pipeline pipeline(scripted_source("bad", {Act::kCorrupt, Act::kCorrupt}), boxes());
  const auto result = pipeline.next();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().status, Status::kLost);
  EXPECT_EQ(result.failure().message, "none of its 2 frames can be read: bad: a damaged frame");
}

TEST_F(PipelineTest, StoppedFramesAreAccountedFor) {
  Pipeline pipeline(scripted_source("a", test::frames(1000)), boxes(), {.queue = 8});
  ASSERT_TRUE(pipeline.next());
  pipeline.stop();
  EXPECT_EQ(pipeline.next().failure().status, Status::kCancelled);
  const Ledger ledger = pipeline.summary().ledger;
  EXPECT_EQ(ledger.processed, 1);
  EXPECT_LT(ledger.captured, 20);
  EXPECT_EQ(ledger.stopped, ledger.captured - 1);
}

TEST_F(PipelineTest, AFrameThatNotAllModelsSawIsStopped) {
  Pipeline pipeline({scripted_source("a", test::frames(1))}, {boxes(), colors()});
  ASSERT_TRUE(pipeline.next());
  pipeline.stop();
  EXPECT_FALSE(pipeline.next());
  const Ledger ledger = pipeline.summary().ledger;
  EXPECT_EQ(ledger.processed, 0);
  EXPECT_EQ(ledger.stopped, 1);
  EXPECT_EQ(ledger.in_flight(), 0);
}

TEST_F(PipelineTest, DroppingPoliciesLoseFramesByName) {
  for (DropPolicy drop : {DropPolicy::kOldest, DropPolicy::kNewest}) {
    // The source hangs after its frames, so that the queue is full before the first one is taken.
    auto script = test::frames(50);
    script.push_back(Act::kHang);
    Pipeline pipeline(scripted_source("a", script), boxes(), {.drop = drop, .queue = 2});
    while (pipeline.summary().ledger.queue_full < 48) std::this_thread::yield();
    const auto first = pipeline.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->frame, drop == DropPolicy::kOldest ? 48 : 0);
    ASSERT_TRUE(pipeline.next());
    EXPECT_EQ(pipeline.next(std::chrono::milliseconds(1)).failure().status, Status::kTimeout);
    expect_balanced(pipeline.finish());
  }
}

TEST_F(PipelineTest, LiveSourcesKeepTheNewestFrame) {
  auto script = test::frames(10);
  script.push_back(Act::kHang);
  Pipeline pipeline(scripted_source("a", script, true), boxes());
  while (pipeline.summary().ledger.queue_full < 9) std::this_thread::yield();
  EXPECT_EQ(pipeline.next()->frame, 9);
}

/// A file beside a camera does not lengthen the camera's queue.
TEST_F(PipelineTest, AQueueIsThatOfItsSource) {
  auto script = test::frames(10);
  script.push_back(Act::kHang);
  Pipeline pipeline({scripted_source("camera", script, true), scripted_source("file", script)}, {boxes()});
  const auto ledger_of = [&](std::size_t stream) { return pipeline.summary().streams[stream].ledger; };
  while (ledger_of(0).queue_full < 9 || ledger_of(1).captured < 5) std::this_thread::yield();
  EXPECT_EQ(pipeline.next()->frame, 9) << "of the camera";
  EXPECT_EQ(pipeline.next()->frame, 0) << "of the file";
  EXPECT_EQ(ledger_of(1).queue_full, 0);
}

TEST_F(PipelineTest, TelemetryIsOfTheTimeSinceTheLast) {
  auto script = test::frames(6);
  script.push_back(Act::kHang);
  Pipeline pipeline({scripted_source("a", script), scripted_source("b", {Act::kLost})}, {boxes()}, {.queue = 3});
  int results = 0;
  for (bool is_lost = false; results < 3 || !is_lost;) {
    if (pipeline.next())
      ++results;
    else
      is_lost = true;
  }
  while (pipeline.summary().streams[0].ledger.captured < 6) std::this_thread::yield();
  const auto count = [](const StreamTelemetry& stream) {
    return std::ranges::find(stream.stages, "total", &StageSummary::name)->time.count;
  };
  const Telemetry first = pipeline.telemetry();
  ASSERT_EQ(first.streams.size(), 2U);
  EXPECT_EQ(first.streams[0].state, StreamState::kRunning);
  EXPECT_EQ(first.streams[0].ledger.processed, results);
  EXPECT_GT(first.streams[0].rate, 0);
  EXPECT_EQ(count(first.streams[0]), results);
  EXPECT_EQ(first.streams[1].state, StreamState::kLost);
  const Telemetry second = pipeline.telemetry();
  EXPECT_EQ(second.streams[0].rate, 0);
  EXPECT_EQ(count(second.streams[0]), 0);
  EXPECT_EQ(second.streams[0].ledger.processed, results) << "since the start";
  EXPECT_EQ(pipeline.summary().streams[0].stages.back().time.count, results) << "since the start";
}

TEST_F(PipelineTest, SkipsFramesOnRequest) {
  Pipeline thinned(scripted_source("a", test::frames(10)), boxes(), {.every = 4});
  std::vector<std::int64_t> seen;
  for (const Result& result : thinned) seen.push_back(result.frame);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 4, 8}));
  EXPECT_EQ(thinned.summary().ledger.skipped, 7);
  EXPECT_EQ(thinned.summary().ledger.dropped(), 0);
  expect_balanced(thinned.summary());
  Pipeline limited(scripted_source("a", test::frames(10)), boxes(), {.max_rate = 12.5});  // of 25 frames per second
  EXPECT_EQ(drain(limited), 5);
  EXPECT_EQ(limited.summary().ledger.skipped, 5);
}

TEST_F(PipelineTest, RefusesSelectionsWithoutSense) {
  for (const PipelineOptions& options :
       {PipelineOptions{.every = 0}, {.max_rate = -1}, {.max_rate = std::numeric_limits<double>::quiet_NaN()}})
    EXPECT_THROW(Pipeline(scripted_source("a", {}), boxes(), options), Error);
}

TEST_F(PipelineTest, StopEndsAWaitFromAnotherThread) {
  const Model model = boxes();
  // Repeated, since only some orders of the three threads could make the wait end otherwise.
  for (int i = 0; i < 100; ++i) {
    Pipeline pipeline(scripted_source("a", {Act::kHang}), model);
    std::thread other([&] { pipeline.stop(); });
    EXPECT_EQ(pipeline.next().failure().status, Status::kCancelled);
    other.join();
  }
}

TEST_F(PipelineTest, EndsWhereverItIs) {
  { const Pipeline unused(scripted_source("a", test::frames(100)), boxes()); }
  { const Pipeline hanging(scripted_source("a", {Act::kHang}), boxes()); }
  Pipeline pipeline(scripted_source("a", test::frames(100)), boxes());
  ASSERT_TRUE(pipeline.next());
  pipeline = Pipeline(scripted_source("b", test::frames(1)), boxes());
  EXPECT_EQ(drain(pipeline), 1);
}

TEST_F(PipelineTest, StopsAfterTheRequestedFramesAndTime) {
  Pipeline counted(scripted_source("a", test::frames(10)), boxes(), {.max_frames = 4});
  EXPECT_EQ(drain(counted), 4);
  EXPECT_EQ(counted.summary().ledger.captured, 4);
  Pipeline timed(scripted_source("a", {Act::kHang}), boxes(), {.duration = std::chrono::milliseconds(5)});
  EXPECT_EQ(timed.next().failure().status, Status::kEnd);
  EXPECT_EQ(timed.next().failure().status, Status::kEnd);
}

TEST_F(PipelineTest, AFrameThatAModelCannotTakeIsFailed) {
  ModelOptions options;
  options.roi = Region{100, 100, 10, 10};
  Pipeline pipeline(scripted_source("a", test::frames(2)), boxes(options));
  const auto result = pipeline.next();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().status, Status::kFailed);
  EXPECT_NE(result.failure().message.find("a, frame 0: boxes: "), std::string::npos) << result.failure().message;
  EXPECT_EQ(pipeline.next().failure().status, Status::kFailed);
  EXPECT_EQ(pipeline.next().failure().status, Status::kEnd);
  EXPECT_EQ(pipeline.summary().ledger.failed, 2);
  expect_balanced(pipeline.summary());
}

TEST_F(PipelineTest, OneSourceFeedsOnePipeline) {
  const Source source = scripted_source("a", test::frames(1));
  const Pipeline first(source, boxes());
  EXPECT_THROW(Pipeline(source, boxes()), Error);
  EXPECT_THROW(Pipeline({}, {boxes()}), Error);
  EXPECT_THROW(Pipeline({scripted_source("b", {})}, {}), Error);
}

TEST_F(PipelineTest, TheFrameIsThereToDrawOn) {
  Pipeline pipeline(scripted_source("a", test::frames(1)), boxes());
  ASSERT_TRUE(pipeline.next());
  EXPECT_EQ(pipeline.frame().width, 16);
  EXPECT_EQ(pipeline.frame().planes[0][0], 255);
}

}  // namespace
}  // namespace saccade
