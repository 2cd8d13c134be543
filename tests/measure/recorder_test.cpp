#include "measure/profile/recorder.hpp"

#include <gtest/gtest.h>

#include "runtime/reference_backend.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using namespace std::chrono_literals;

const ReferenceBackend kBackend;
const Clock::time_point kStart = Clock::time_point(1h);

/// Add, a view, Relu: steps 0 and 2 are launches.
std::shared_ptr<const Plan> plan() {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId sum = b.op("Add", {x, b.scalar(1)});
  const ValueId flat = b.op("Reshape", {sum, b.ints({6})});
  return Plan::compile(b.build({b.op("Relu", {flat})}), kBackend, {});
}

/// A frame that starts at kStart + 10 ms * NUMBER: Add takes 2 ms, the gap 1 ms, Relu 3 ms.
void add_frame(Recorder& recorder, std::int64_t number) {
  const auto start = kStart + 10ms * number;
  const std::span<StepTime> steps = recorder.next_steps();
  steps[0] = {start, start + 2ms};
  steps[2] = {start + 3ms, start + 6ms};
  FrameRecord record{.frame = number, .times = {start, start, start - 3ms, start, start, start + 6ms}};
  record.latency.model = 6ms;
  record.latency.total = 6ms;
  recorder.add(record);
}

TEST(Recorder, KeepsStatisticsOfLaunchesAndGaps) {
  Recorder recorder(*plan(), 0);
  for (int i = 0; i < 40; ++i) add_frame(recorder, i);
  recorder.flush();
  EXPECT_EQ(recorder.count(), 40);
  EXPECT_EQ(recorder.launch(0).count(), 40);
  EXPECT_EQ(recorder.launch(0).mean(), 2ms);
  EXPECT_EQ(recorder.launch(1).count(), 0);
  EXPECT_EQ(recorder.launch(2).max(), 3ms);
  EXPECT_EQ(recorder.frame().mean(), 6ms);
  EXPECT_EQ(recorder.gaps().mean(), 1ms);
  EXPECT_EQ(recorder.gap_after(0), 1ms);
  EXPECT_EQ(recorder.gap_after(2), 0ms);
  // Requested 3 ms before it arrived; the previous frame had ended 1 ms earlier. The first frame has no predecessor.
  EXPECT_EQ(recorder.waiting().mean(), 3ms);
  EXPECT_EQ(recorder.outside().mean(), 1ms);
  EXPECT_EQ(recorder.outside().count(), 39);
  EXPECT_EQ(recorder.stages().total().mean(), 6ms);
}

TEST(Recorder, KeepsTheFirstFramesForATrace) {
  Recorder recorder(*plan(), 20);
  for (int i = 0; i < 50; ++i) add_frame(recorder, i);
  recorder.flush();
  const TraceRecord trace = recorder.take_trace();
  ASSERT_EQ(trace.frames.size(), 20U);
  EXPECT_EQ(trace.left_out, 30);
  EXPECT_EQ(trace.frames[19].frame, 19);
  ASSERT_EQ(trace.steps_of(19).size(), 3U);
  EXPECT_EQ(trace.steps_of(19)[2].start, kStart + 193ms);
}

TEST(TimelineRecorder, MergesColumnsWhenTheyAreUsedUp) {
  TimelineRecorder timeline(2);  // four columns at most
  for (int i = 0; i < 6; ++i) {
    FrameRecord record{.frame = i};
    record.times.started = kStart + i * 1s;
    record.latency.model = 1ms * (i + 1);
    timeline.add(record);
  }
  EXPECT_EQ(timeline.frames_a_column(), 2);
  const std::vector<TimelineColumn> columns = timeline.columns();
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[1].seconds, 2);
  EXPECT_EQ(columns[0].times[3], Nanoseconds(1.5e6));
  EXPECT_EQ(columns[2].times[3], Nanoseconds(5.5e6));
}

}  // namespace
}  // namespace saccade
