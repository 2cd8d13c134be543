#include "media/waiting_reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "media/source_list.hpp"
#include "saccade/error.hpp"
#include "support/frames.hpp"
#include "support/scripted_source.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using namespace std::chrono_literals;
using test::Act;
using test::ScriptedReader;

/// An opener of a device that is missing for the first TRIES.
class LateDevice {
 public:
  explicit LateDevice(int tries, ErrorCode code = ErrorCode::kNotFound) : tries_(tries), code_(code) {}

  OpenReader opener() {
    return [this]() -> std::unique_ptr<FrameReader> {
      if (++opened_ <= tries_) fail(code_, "there is no /dev/video7");
      return std::make_unique<ScriptedReader>("/dev/video7", std::vector<Act>{Act::kFrame, Act::kFrame}, true);
    };
  }
  int opened() const { return opened_; }

 private:
  int tries_;
  ErrorCode code_;
  std::atomic<int> opened_ = 0;
};

TEST(WaitingReader, ADeviceThatIsThereIsReadAsItIs) {
  LateDevice device(0);
  const auto reader = open_or_wait("/dev/video7", device.opener());
  EXPECT_NE(dynamic_cast<ScriptedReader*>(reader.get()), nullptr);
  EXPECT_EQ(device.opened(), 1);
}

TEST(WaitingReader, AMissingDeviceIsTriedUntilItArrives) {
  for (const ErrorCode code : {ErrorCode::kNotFound, ErrorCode::kIo, ErrorCode::kDevice}) {
    LateDevice device(3, code);
    const auto reader = open_or_wait("/dev/video7", device.opener(), 0ns);
    const SourceInfo& info = reader->info();
    EXPECT_TRUE(info.live);
    EXPECT_EQ(info.name, "/dev/video7");
    EXPECT_EQ(info.width, 0);
    EXPECT_EQ(info.frame_rate, 0);
    test::FramePool pool;
    for (int i = 0; i < 2; ++i) {
      const Outcome<Frame> none = reader->read(pool);
      ASSERT_FALSE(none);
      EXPECT_EQ(none.failure().status, Status::kTimeout);
      EXPECT_EQ(none.failure().message, "there is no /dev/video7; waiting for it");
    }
    EXPECT_GT(reader->held_buffers(), 0) << "as many as any camera may hold";
    for (std::int64_t i = 0; i < 2; ++i) EXPECT_EQ(reader->read(pool)->sequence, i);
    EXPECT_EQ(reader->held_buffers(), 0) << "those of the device";
    EXPECT_EQ(reader->read(pool).failure().status, Status::kEnd);
    EXPECT_EQ(device.opened(), 4) << "not opened again after its end";
    EXPECT_EQ(&info, &reader->info());
  }
}

TEST(WaitingReader, AnErrorThatDoesNotPassIsThrownOrLosesTheSource) {
  LateDevice never(1, ErrorCode::kUnsupported);
  EXPECT_THROW(open_or_wait("/dev/video7", never.opener()), Error);
  int tries = 0;
  const auto reader = open_or_wait(
      "/dev/video7",
      [&]() -> std::unique_ptr<FrameReader> {
        if (++tries == 1) fail(ErrorCode::kNotFound, "away");
        fail(ErrorCode::kUnsupported, "it has no format that can be read");
      },
      0ns);
  test::FramePool pool;
  const Outcome<Frame> lost = reader->read(pool);
  EXPECT_EQ(lost.failure().status, Status::kLost);
  EXPECT_EQ(lost.failure().message, "it has no format that can be read");
}

TEST(WaitingReader, CancellingEndsTheWait) {
  LateDevice device(1'000'000);
  const auto reader = open_or_wait("/dev/video7", device.opener(), std::chrono::hours(1));
  test::FramePool pool;
  Status status = Status::kEnd;
  std::thread thread([&] { status = reader->read(pool).failure().status; });
  reader->cancel();
  thread.join();
  EXPECT_EQ(status, Status::kCancelled);
  EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled);
}

TEST(WaitingReader, CancellingReachesTheOpenDevice) {
  bool is_away = true;
  const auto reader = open_or_wait(
      "camera",
      [&]() -> std::unique_ptr<FrameReader> {
        if (std::exchange(is_away, false)) fail(ErrorCode::kNotFound, "away");
        return std::make_unique<ScriptedReader>("camera", std::vector<Act>{Act::kFrame, Act::kHang}, true);
      },
      0ns);
  test::FramePool pool;
  EXPECT_TRUE(reader->read(pool));
  std::thread thread([&] { EXPECT_EQ(reader->read(pool).failure().status, Status::kCancelled); });
  reader->cancel();
  thread.join();
}

TEST(WaitingReader, OnlyDevicesAreWaitedFor) {
  for (const char* uri : {"/dev/video0", "/dev/video12?size=1280x720", "/dev/v4l/by-id/usb-camera", "0", "12"})
    EXPECT_TRUE(is_camera(uri)) << uri;
  for (const char* uri : {"", "a.mp4", "/dev/null", "/data/dev/video0", "synthetic:", "0.jpg"})
    EXPECT_FALSE(is_camera(uri)) << uri;
  const test::TempFolder folder;
  EXPECT_THROW(open_source(folder / "missing.mp4", {.wait_for_source = true}), Error);
}

}  // namespace
}  // namespace saccade
