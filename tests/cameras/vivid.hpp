#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/bounded_queue.hpp"
#include "media/v4l2/camera.hpp"
#include "media/v4l2/controls.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/stream/stream.hpp"

namespace saccade::test {

/// The cameras of the kernel's vivid driver, which injects faults by controls. /dev/video0 is a webcam, /dev/video1 an
/// HDMI receiver. script/test-cameras runs these tests in a virtual machine.
class Vivid : public ::testing::Test {
 protected:
  static constexpr const char* kWebcam = "/dev/video0";
  static constexpr const char* kHdmi = "/dev/video1";
  // As fast as the driver draws on an emulated processor, and exposure times that lie in the past.
  static constexpr const char* kSmall = "/dev/video0?size=320x180&fps=50&format=YUYV&timestamp_source=1";

  void SetUp() override {
    std::ifstream name("/sys/class/video4linux/video0/name");
    std::string text;
    std::getline(name, text);
    if (!text.starts_with("vivid")) GTEST_SKIP() << "needs the cameras of the kernel module vivid";
  }

  void TearDown() override {
    // A frame's mapping or another program kept the old number in use when the cameras came back.
    if (access("/sys/bus/platform/drivers/vivid/vivid.0", F_OK) == 0 &&
        access(kHdmi, F_OK) + access(kWebcam, F_OK) != 0)
      driver("unbind");
    if (access("/sys/bus/platform/drivers/vivid/vivid.0", F_OK) != 0) driver("bind");
  }

  static bool is_long() { return std::getenv("SACCADE_LONG_TESTS") != nullptr; }

  /// Sets a control of DEVICE, beside the camera that is tested.
  static void set(const std::string& name, const std::string& value, const char* device = kWebcam) {
    const v4l2::Device beside(v4l2::linux_calls(), device);
    const std::vector<v4l2::ControlSetting> settings = {{name, value}};
    v4l2::set_controls(beside, settings);
  }

  /// "unbind" takes both cameras away, "bind" brings them back.
  static void driver(const std::string& action) {
    std::ofstream file("/sys/bus/platform/drivers/vivid/" + action);
    file << "vivid.0" << std::flush;
    ASSERT_TRUE(file.good()) << action;
  }
};

/// A camera's stream with a queue of one frame, as in a pipeline.
class Streaming {
 public:
  explicit Streaming(const std::string& uri, std::shared_ptr<v4l2::SystemCalls> calls = v4l2::linux_calls())
      : reader_(v4l2::open_camera(uri, {}, std::move(calls))) {}
  ~Streaming() { stop(); }
  Streaming(const Streaming&) = delete;
  Streaming& operator=(const Streaming&) = delete;

  /// The next frame within PATIENCE.
  Frame next(std::chrono::seconds patience = std::chrono::seconds(10)) {
    Frame frame;
    std::size_t lane = 0;
    if (queue_.pop(frame, lane, Clock::now() + patience) != PopStatus::kItem) ADD_FAILURE() << "no frame in time";
    if (frame.view.width > 0) stream_.ledger().process();
    return frame;
  }
  void skip(int frames) {
    for (int i = 0; i < frames && !::testing::Test::HasFailure(); ++i) next();
  }
  /// Time until a frame arrives that was captured after now.
  std::chrono::duration<double> until_next(std::chrono::seconds patience = std::chrono::seconds(20)) {
    const auto start = Clock::now();
    while (next(patience).captured < start && !::testing::Test::HasFailure()) continue;
    return Clock::now() - start;
  }

  /// Ends the stream. Every frame is accounted for then.
  Ledger stop() {
    if (!is_stopped_) {
      is_stopped_ = true;
      stream_.cancel();
      queue_.cancel();
      stream_.join();
      while (queue_.drain(0)) stream_.ledger().drop_stopped();
    }
    const Ledger ledger = stream_.ledger().snapshot();
    EXPECT_EQ(ledger.in_flight(), 0);
    return ledger;
  }

  Stream& stream() { return stream_; }
  SourceFaults faults() const { return reader_->faults(); }
  const SourceInfo& info() const { return reader_->info(); }

 private:
  std::unique_ptr<FrameReader> reader_;
  BoundedQueue<Frame> queue_{{{DropPolicy::kOldest, 1}}};
  Stream stream_{*reader_, queue_, {.buffers = 4}};
  bool is_stopped_ = false;
};

}  // namespace saccade::test
