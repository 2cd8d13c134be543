#include "media/v4l2/frame_stamps.hpp"

#include <gtest/gtest.h>

#include "media/v4l2/camera_rig.hpp"

namespace saccade::v4l2 {
namespace {

using std::chrono::milliseconds;
using test::CameraRig;
using test::FakeCamera;
using test::FakeFrame;

std::vector<std::int64_t> numbers_of(const std::vector<std::uint32_t>& driver) {
  SequenceCounter counter;
  std::vector<std::int64_t> numbers;
  for (const std::uint32_t number : driver) numbers.push_back(counter.next(number));
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

TEST(SequenceCounter, BeginsAtZero) {
  EXPECT_EQ(numbers_of({0, 1, 2}), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers_of({77, 78, 80}), (Numbers{0, 1, 3}));
}

TEST(SequenceCounter, PassesTheEndOf32Bits) {
  EXPECT_EQ(numbers_of({0xFFFFFFFE, 0xFFFFFFFF, 0, 1, 3}), (Numbers{0, 1, 2, 3, 5}));
}

TEST(SequenceCounter, CountsWhereTheDriverDoesNot) {
  EXPECT_EQ(numbers_of({0, 0, 0, 0}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of({5, 5, 6, 6, 7}), (Numbers{0, 1, 2, 3, 4}));
}

TEST(SequenceCounter, GoesOnWhereTheDriverBeginsAgain) {
  EXPECT_EQ(numbers_of({100, 101, 0, 1, 2, 4}), (Numbers{0, 1, 2, 3, 4, 6}));
}

TEST(SequenceCounter, AfterARestartTheNextFollows) {
  SequenceCounter counter;
  EXPECT_EQ(counter.next(10), 0);
  EXPECT_EQ(counter.next(12), 2);
  counter.restart();
  EXPECT_EQ(counter.next(500), 3);
  EXPECT_EQ(counter.next(501), 4);
}

constexpr Clock::time_point kArrival{std::chrono::seconds(100)};
constexpr std::int64_t kArrivalNs = 100'000'000'000;

TEST(SensorClock, KeepsTimesThatArePossible) {
  SensorClock clock;
  for (const std::int64_t stamp : {kArrivalNs - 50, kArrivalNs - 20, kArrivalNs}) {
    const FrameStamp checked = clock.check(stamp, true, kArrival);
    EXPECT_EQ(checked.timestamp_ns, stamp);
    EXPECT_FALSE(checked.is_replaced);
    ASSERT_TRUE(checked.exposed);
    EXPECT_EQ(checked.exposed->time_since_epoch().count(), stamp);
  }
}

TEST(SensorClock, ReplacesTimesAheadOfTheArrival) {
  SensorClock clock;
  for (int i = 0; i < 3; ++i) {
    const FrameStamp checked = clock.check(kArrivalNs + 1, true, kArrival);
    EXPECT_TRUE(checked.is_replaced);
    EXPECT_EQ(checked.timestamp_ns, kArrivalNs);
    EXPECT_EQ(*checked.exposed, kArrival);
  }
  EXPECT_FALSE(clock.check(kArrivalNs - 1, true, kArrival).is_replaced) << "it is compared with none of those";
}

TEST(SensorClock, AJumpBackIsWrongOnce) {
  SensorClock clock;
  EXPECT_FALSE(clock.check(kArrivalNs - 10, true, kArrival).is_replaced);
  EXPECT_TRUE(clock.check(kArrivalNs - 11, true, kArrival).is_replaced);
  EXPECT_FALSE(clock.check(kArrivalNs - 11, true, kArrival).is_replaced);
  clock.restart();
  EXPECT_FALSE(clock.check(kArrivalNs - 99, true, kArrival).is_replaced);
}

TEST(SensorClock, ReplacesAllTimesOfAClockThatIsAMinuteBehind) {
  SensorClock clock;
  constexpr std::int64_t kMinute = 60'000'000'000;
  EXPECT_FALSE(clock.check(kArrivalNs - kMinute, true, kArrival).is_replaced);
  clock.restart();
  for (int i = 0; i < 3; ++i) {
    const FrameStamp checked = clock.check(33'000'000 * (i + 1), true, kArrival);
    EXPECT_TRUE(checked.is_replaced) << "it counts from the start of the stream";
    EXPECT_EQ(checked.timestamp_ns, kArrivalNs);
  }
}

TEST(SensorClock, AnotherClockSaysNothingOfTheExposure) {
  SensorClock clock;
  const FrameStamp checked = clock.check(5, false, kArrival);
  EXPECT_EQ(checked.timestamp_ns, kArrivalNs);
  EXPECT_FALSE(checked.exposed);
  EXPECT_FALSE(checked.is_replaced);
}

/// The frames of a camera whose frames CHANGE changes.
std::vector<Frame> frames_with(const std::function<void(FakeFrame&)>& change, int count, SourceFaults& faults) {
  FakeCamera camera;
  camera.change = change;
  CameraRig rig(std::move(camera));
  std::vector<Frame> frames;
  for (int i = 0; i < count; ++i) {
    auto frame = rig.frame();
    EXPECT_TRUE(frame);
    frame->lease = {};
    frames.push_back(std::move(*frame));
  }
  faults = rig.reader->faults();
  return frames;
}

TEST(CameraTimes, OfOtherClocksAreThoseOfTheArrival) {
  for (const std::uint32_t flags : {std::uint32_t{V4L2_BUF_FLAG_TIMESTAMP_COPY}, std::uint32_t{0}}) {
    SourceFaults faults;
    const auto frames = frames_with(
        [&](FakeFrame& frame) {
          frame.flags = flags;
          frame.stamp_ns = 3;
        },
        3, faults);
    for (const Frame& frame : frames) {
      EXPECT_FALSE(frame.exposed);
      EXPECT_EQ(frame.timestamp_ns, frame.captured.time_since_epoch().count());
    }
    EXPECT_EQ(faults.replaced_timestamps, 0);
  }
}

TEST(CameraTimes, ThatAreWrongAreReplacedAndCounted) {
  SourceFaults faults;
  const auto frames = frames_with(
      [](FakeFrame& frame) {
        if (frame.number == 2) frame.stamp_ns += 1'000'000'000;
        if (frame.number == 5) frame.stamp_ns -= 1'000'000'000;
      },
      9, faults);
  EXPECT_EQ(faults.replaced_timestamps, 2);
  std::int64_t last = 0;
  for (const Frame& frame : frames) {
    EXPECT_LE(*frame.exposed, frame.captured);
    EXPECT_GT(frame.timestamp_ns, std::exchange(last, frame.timestamp_ns));
  }
}

TEST(CameraTimes, OfADriverThatSetsNoneAreThoseOfTheArrival) {
  SourceFaults faults;
  const auto frames = frames_with([](FakeFrame& frame) { frame.stamp_ns = 0; }, 3, faults);
  EXPECT_EQ(faults.replaced_timestamps, 0);
  for (const Frame& frame : frames) {
    EXPECT_FALSE(frame.exposed);
    EXPECT_EQ(frame.timestamp_ns, frame.captured.time_since_epoch().count());
  }
}

TEST(CameraNumbers, ContinueWhateverTheDriverCounts) {
  SourceFaults faults;
  const auto wrapping = frames_with([](FakeFrame& frame) { frame.sequence -= 3; }, 6, faults);
  EXPECT_EQ(wrapping.back().sequence, 5);
  const auto constant = frames_with([](FakeFrame& frame) { frame.sequence = 0; }, 6, faults);
  EXPECT_EQ(constant.back().sequence, 5);
  const auto skipping = frames_with([](FakeFrame& frame) { frame.sequence *= 3; }, 6, faults);
  EXPECT_EQ(skipping.back().sequence, 15);
}

}  // namespace
}  // namespace saccade::v4l2
