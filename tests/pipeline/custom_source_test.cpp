#include "saccade/custom_source.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "pipeline/model/frame_pool.hpp"
#include "pipeline/stream/custom_reader.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/error.hpp"
#include "saccade/pipeline.hpp"
#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

/// A source that calls READ with the number of the call.
class CalledSource final : public CustomSource {
 public:
  using Read = std::function<Outcome<CapturedFrame>(FrameTarget&, int)>;

  explicit CalledSource(
      Read read, std::function<void()> cancel = [] {}, bool live = false)
      : read_(std::move(read)), cancel_(std::move(cancel)) {
    info_.name = "called";
    info_.live = live;
  }

  const SourceInfo& info() const override { return info_; }
  Outcome<CapturedFrame> read(FrameTarget& target) override { return read_(target, calls_++); }
  void cancel() noexcept override { cancel_(); }

 private:
  SourceInfo info_;
  Read read_;
  std::function<void()> cancel_;
  int calls_ = 0;
};

/// Fills every sample of the planes of a frame of FORMAT with its plane's number plus one.
bool fill_planes(FrameTarget& target, PixelFormat format, int width, int height) {
  const FramePlanes planes = target.acquire(format, width, height);
  if (!planes) return false;
  const auto sizes = plane_sizes(format, width, height);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (int y = 0; y < sizes[i].rows; ++y)
      std::fill_n(planes.data[i] + static_cast<std::ptrdiff_t>(y) * planes.pitch_bytes[i], sizes[i].row_bytes,
                  static_cast<std::uint8_t>(i + 1));
  return true;
}

Outcome<CapturedFrame> gray_frame(FrameTarget& target) {
  if (!fill_planes(target, PixelFormat::kRgb24, 16, 8)) return Failure{Status::kCancelled, {}};
  return CapturedFrame{};
}

class CustomSourceTest : public testing::Test {
 protected:
  Model model() { return test::load_on_cpu(test::write_box_detector(folder_)); }
  Summary run(CalledSource::Read read) {
    Pipeline pipeline(Source::from(std::make_unique<CalledSource>(std::move(read))), model());
    for (;;) {
      const auto result = pipeline.next();
      if (result) frames_.push_back(result->frame);
      if (!result && result.failure().status == Status::kEnd) break;
    }
    return pipeline.summary();
  }

  test::TempFolder folder_;
  std::vector<std::int64_t> frames_;
};

TEST_F(CustomSourceTest, FeedsAPipeline) {
  Pipeline pipeline(Source::from(std::make_unique<CalledSource>([](FrameTarget& target, int call) {
                      if (call == 3) return Outcome<CapturedFrame>(Failure{Status::kEnd, {}});
                      if (!fill_planes(target, PixelFormat::kI420, 16, 8))
                        return Outcome<CapturedFrame>(Failure{Status::kCancelled, {}});
                      return Outcome<CapturedFrame>(CapturedFrame{
                          .timestamp_ns = 10 * call, .matrix = ColorMatrix::kBt709, .range = ColorRange::kFull});
                    })),
                    model());
  for (int i = 0; i < 3; ++i) {
    const auto result = pipeline.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->frame, i);
    EXPECT_EQ(result->timestamp_ns, 10 * i);
    EXPECT_EQ(result->source, "called");
    EXPECT_EQ(result->width, 16);
    const FrameView& frame = pipeline.frame();
    EXPECT_EQ(frame.format, PixelFormat::kI420);
    EXPECT_EQ(frame.matrix, ColorMatrix::kBt709);
    EXPECT_EQ(frame.range, ColorRange::kFull);
    EXPECT_EQ(frame.planes[0][15], 1);
    EXPECT_EQ(frame.planes[1][7], 2);
    EXPECT_EQ(frame.planes[2][7], 3);
  }
  EXPECT_EQ(pipeline.next().failure().status, Status::kEnd);
}

TEST_F(CustomSourceTest, CountsGapsAndCorruptFrames) {
  const Summary summary = run([](FrameTarget& target, int call) -> Outcome<CapturedFrame> {
    if (call == 1) return Failure{Status::kCorrupt, "damaged"};
    if (call == 2) return Failure{Status::kTimeout, {}};
    if (call == 5) return Failure{Status::kEnd, {}};
    Outcome<CapturedFrame> frame = gray_frame(target);
    if (frame && call == 4) frame->sequence = 7;
    return frame;
  });
  EXPECT_EQ(frames_, std::vector<std::int64_t>({0, 1, 7}));
  EXPECT_EQ(summary.ledger.processed, 3);
  EXPECT_EQ(summary.ledger.corrupt, 1);
  EXPECT_EQ(summary.ledger.lost, 5);
}

/// Latencies then begin with the exposure.
TEST_F(CustomSourceTest, TellsWhenItsSensorWasExposed) {
  const auto read = [](FrameTarget& target, int call) -> Outcome<CapturedFrame> {
    if (call == 3) return Failure{Status::kEnd, {}};
    Outcome<CapturedFrame> frame = gray_frame(target);
    const auto now = std::chrono::steady_clock::now();
    if (frame && call < 2) frame->exposed = now - std::chrono::milliseconds(5);
    if (frame && call == 2) frame->exposed = now + std::chrono::hours(1);
    return frame;
  };
  Pipeline pipeline(Source::from(std::make_unique<CalledSource>(read)), model());
  for (int i = 0; i < 2; ++i) {
    const auto result = pipeline.next();
    ASSERT_TRUE(result);
    const Latency& latency = result->latency;
    ASSERT_TRUE(latency.sensor);
    EXPECT_GT(*latency.sensor + latency.capture, std::chrono::milliseconds(4));
    EXPECT_GE(latency.total, *latency.sensor + latency.capture + latency.queue);
  }
  const auto last = pipeline.next();
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->latency.sensor) << "a time that lies ahead";
  const Summary summary = pipeline.finish();
  EXPECT_EQ(summary.stages.front().name, "sensor");
  EXPECT_EQ(summary.stages.front().time.count, 2);
}

/// A live source skips the frame, whichever failure it returns; another one waits.
TEST(CustomSource, ALiveOneDoesNotWaitForABuffer) {
  FramePool pool(1);
  for (const Status status : {Status::kNoBuffer, Status::kCancelled}) {
    const auto read = [status](FrameTarget& target, int /*call*/) -> Outcome<CapturedFrame> {
      if (!fill_planes(target, PixelFormat::kRgb24, 16, 8)) return Failure{status, {}};
      return CapturedFrame{};
    };
    const auto reader = read_custom(std::make_unique<CalledSource>(
        read, [] {}, true));
    const Outcome<Frame> first = reader->read(pool);
    ASSERT_TRUE(first);
    EXPECT_EQ(reader->read(pool).failure().status, Status::kNoBuffer);
    reader->cancel();
    EXPECT_EQ(reader->read(pool).failure().status, status);
  }
}

TEST_F(CustomSourceTest, MistakesEndItWithAReason) {
  const auto fault = [&](CalledSource::Read read) { return run(std::move(read)).streams[0].fault; };
  EXPECT_NE(fault([](FrameTarget&, int) { return CapturedFrame{}; }).find("without acquire()"), std::string::npos);
  EXPECT_NE(fault([](FrameTarget& target, int call) -> Outcome<CapturedFrame> {
              Outcome<CapturedFrame> frame = gray_frame(target);
              if (frame) frame->sequence = call == 0 ? 5 : 4;
              return frame;
            }).find("frame 4 follows frame 5"),
            std::string::npos);
  EXPECT_EQ(fault([](FrameTarget&, int) -> Outcome<CapturedFrame> { throw std::runtime_error("unplugged"); }),
            "unplugged");
  EXPECT_NE(fault([](FrameTarget& target, int) -> Outcome<CapturedFrame> {
              target.acquire(PixelFormat::kRgb24, 0, 8);
              return CapturedFrame{};
            }).find("0x8 pixels"),
            std::string::npos);
}

TEST_F(CustomSourceTest, AcquiresAgainWithinOneRead) {
  // More often than the pool has buffers.
  run([](FrameTarget& target, int call) -> Outcome<CapturedFrame> {
    if (call == 1) return Failure{Status::kEnd, {}};
    for (int i = 0; i < 100; ++i) target.acquire(PixelFormat::kGray8, 16, 8);
    return gray_frame(target);
  });
  EXPECT_EQ(frames_.size(), 1U);
}

TEST_F(CustomSourceTest, IsCancelledWhileItWaits) {
  std::mutex mutex;
  std::condition_variable wake;
  bool cancelled = false;
  std::atomic<bool> waits = false;
  auto source = std::make_unique<CalledSource>(
      [&](FrameTarget&, int) -> Outcome<CapturedFrame> {
        std::unique_lock lock(mutex);
        waits = true;
        wake.wait(lock, [&] { return cancelled; });
        return Failure{Status::kCancelled, {}};
      },
      [&] {
        const std::scoped_lock lock(mutex);
        cancelled = true;
        wake.notify_all();
      });
  Pipeline pipeline(Source::from(std::move(source)), model());
  while (!waits) std::this_thread::yield();
  pipeline.stop();
  EXPECT_EQ(pipeline.next().failure().status, Status::kCancelled);
  EXPECT_EQ(pipeline.summary().ledger.captured, 0);
}

TEST(CustomSource, MustExist) { EXPECT_THROW(Source::from(nullptr), Error); }

}  // namespace
}  // namespace saccade
