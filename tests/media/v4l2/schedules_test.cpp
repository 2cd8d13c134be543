#include <gtest/gtest.h>

#include <random>
#include <set>

#include "media/v4l2/camera_rig.hpp"
#include "pipeline/stream/stream_ledger.hpp"

namespace saccade::v4l2 {
namespace {

using std::chrono::milliseconds;
using test::CameraRig;
using test::FakeCalls;
using test::FakeCamera;
using test::FakeFrame;

/// A camera with random faults, read as a stream reads it, whose frames are held for random times.
class Schedule {
 public:
  explicit Schedule(unsigned seed) : random_(seed) {
    FakeCamera camera;
    camera.formats[0].sizes[0] = {32, 8, {{1, 30}}, {}};
    const bool has_damage = chance(0.5);
    const bool has_losses = chance(0.5);
    camera.change = [this, has_damage, has_losses](FakeFrame& frame) {
      if (has_damage && chance(0.05)) frame.flags |= V4L2_BUF_FLAG_ERROR;
      if (has_damage && chance(0.05)) frame.bytes -= 1;
      if (has_losses) frame.is_lost = chance(0.1);
      if (chance(0.02)) frame.stamp_ns += 1'000'000'000;
    };
    if (chance(0.3))
      for (int i = 0; i < 3; ++i) camera.stalls.push_back(number(1, 200));
    if (chance(0.3)) add_errors(camera.next_errors[VIDIOC_DQBUF], -EIO);
    if (chance(0.3)) add_errors(camera.next_errors[VIDIOC_DQBUF], -EAGAIN);
    if (chance(0.3)) add_errors(camera.next_errors[VIDIOC_QBUF], -EINVAL);
    if (chance(0.3)) camera.next_errors[VIDIOC_STREAMON] = {0, -EIO, 0, -ENOSPC};
    const std::string io = chance(0.5) ? "0?io=userptr" : "0?io=mmap";
    // Not at the beginning: the driver's own would be used instead.
    if (io == "0?io=userptr") camera.next_errors[VIDIOC_QBUF].insert(camera.next_errors[VIDIOC_QBUF].begin(), 4, 0);
    // Mapped frames are copied into the pool while many are held, which the truth does not know.
    const std::size_t buffers = io == "0?io=userptr" ? static_cast<std::size_t>(number(4, 9)) : 256;
    rig_ = std::make_unique<CameraRig>(std::move(camera), io, MemoryKind::kPlain, buffers);
    longest_hold_ = milliseconds(chance(0.5) ? 30 : 400);
    if (chance(0.4)) add_absence(number(500, 2000));
    if (chance(0.4)) add_absence(number(6000, 9000));
    if (chance(0.2))
      rig_->calls->at(milliseconds(number(100, 5000)), [this] { rig_->calls->announce_format(*rig_->camera); });
  }
  ~Schedule() {
    // The fake's actions have them, too, and outlive the pool.
    for (const auto& frame : held_) frame->lease = FrameLease();
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  void run() {
    while (frames_ < 200 && rig_->calls->elapsed() < std::chrono::seconds(120)) {
      Outcome<Frame> outcome = rig_->read();
      if (outcome) {
        take(std::move(*outcome));
      } else {
        count(outcome.failure());
      }
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(frames_, 200) << "frames arrive again after every fault";
  }

 private:
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  void add_errors(std::deque<int>& errors, int error) {
    for (int i = 0; i < 150; ++i) errors.push_back(chance(0.05) ? error : 0);
  }

  void add_absence(int begin) {
    rig_->calls->at(milliseconds(begin), [this] { rig_->calls->unplug(FakeCalls::kNode); });
    const auto camera = rig_->camera;
    rig_->calls->at(milliseconds(begin + number(1, 3000)),
                    [this, camera] { rig_->calls->plug(FakeCalls::kNode, camera); });
  }

  static std::uint8_t sample_of(const Frame& frame) {
    const std::uint8_t first = frame.view.planes[0][0];
    const auto* end = frame.view.planes[0] + std::ptrdiff_t{64} * 8;
    for (const std::uint8_t* each = frame.view.planes[0]; each != end; ++each) EXPECT_EQ(*each, first);
    return first;
  }

  void take(Frame frame) {
    ++frames_;
    ledger_.capture(frame.sequence);
    ledger_.process();
    EXPECT_GT(frame.sequence, std::exchange(last_, frame.sequence));
    const FakeCamera::Truth& truth = rig_->camera->truth;
    const Ledger ledger = ledger_.snapshot();
    EXPECT_EQ(ledger.in_flight(), 0);
    EXPECT_EQ(ledger.processed, truth.good);
    EXPECT_EQ(ledger.corrupt, truth.corrupt);
    EXPECT_EQ(ledger.no_buffer, truth.no_buffer);
    EXPECT_EQ(ledger.lost, truth.lost);
    const std::uint8_t sample = sample_of(frame);
    EXPECT_NE(sample, FakeCamera::kPoison);
    EXPECT_LE(frame.exposed.value_or(frame.captured), frame.captured);
    const auto held = std::make_shared<Frame>(std::move(frame));
    held_.insert(held);
    const auto time = std::chrono::nanoseconds(number(0, 1000) * longest_hold_.count() * 1000);
    rig_->calls->at(rig_->calls->elapsed() + time, [this, held, sample]() {
      EXPECT_EQ(sample_of(*held), sample) << "the driver wrote into a frame that was held";
      held->lease = FrameLease();
      held_.erase(held);
    });
  }

  void count(const Failure& failure) {
    switch (failure.status) {
      case Status::kCorrupt: ledger_.corrupt(); break;
      case Status::kNoBuffer: ledger_.drop_no_buffer(); break;
      case Status::kTimeout: break;
      default: ADD_FAILURE() << failure.message;
    }
  }

  std::mt19937 random_;
  std::unique_ptr<CameraRig> rig_;
  std::set<std::shared_ptr<Frame>> held_;
  milliseconds longest_hold_{};
  StreamLedger ledger_;
  int frames_ = 0;
  std::int64_t last_ = -1;
};

TEST(CameraSchedules, RandomFaultsAreAccountedFor) {
  testing::internal::CaptureStderr();  // each schedule has its warnings
  unsigned seed = 0;
  for (; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Schedule(seed).run();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(HasFailure()) << log.substr(0, 2000);
}

}  // namespace
}  // namespace saccade::v4l2
