#pragma once

#include <linux/videodev2.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace saccade::test {

/// A size of a FakeFormat with its intervals: a list, or a range.
struct FakeSize {
  std::uint32_t width = 640;
  std::uint32_t height = 480;
  std::vector<v4l2_fract> intervals = {{1, 30}};
  std::optional<v4l2_frmival_stepwise> range;
};

/// A format with its sizes: a list, or a range, whose intervals are those of the first size.
struct FakeFormat {
  std::uint32_t code = V4L2_PIX_FMT_YUYV;
  std::vector<FakeSize> sizes = {{}};
  std::optional<v4l2_frmsize_stepwise> range;
};

struct FakeControl {
  v4l2_query_ext_ctrl query{};
  std::map<std::int64_t, std::string> names;     ///< of a menu
  std::map<std::int64_t, std::int64_t> numbers;  ///< of a menu of numbers
  std::int64_t value = 0;
  int refusal = 0;  ///< a negative error number
};
FakeControl fake_control(std::uint32_t id, std::uint32_t type, const std::string& name, std::int64_t low,
                         std::int64_t high, std::uint32_t flags = 0);

/// A frame as the driver is going to deliver it; a test changes it.
struct FakeFrame {
  std::int64_t number = 0;  ///< of all frames of the camera since it was made, from 0
  std::uint32_t sequence = 0;
  std::int64_t stamp_ns = 0;
  std::uint32_t flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
  std::uint32_t bytes = 0;
  std::optional<std::uint32_t> index;  ///< of another buffer than the one that is filled
  bool is_lost = false;                ///< by the sensor: no buffer is filled
  std::vector<std::uint8_t> image;     ///< the bytes; empty: all are byte_of(number)
};

/// A camera and its driver, of one open stream. FakeCalls has the clock, and the nodes at which cameras are.
struct FakeCamera {
  static constexpr std::uint8_t kPoison = 0xEE;
  /// What the bytes of frame NUMBER are; never kPoison.
  static std::uint8_t byte_of(std::int64_t number) { return static_cast<std::uint8_t>(1 + number % 200); }

  std::string driver = "uvcvideo";
  std::string card = "HD Webcam";
  std::string bus = "usb-0000:00:14.0-1";
  std::string serial = "A1";
  std::string index = "0";
  std::uint32_t capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  int open_error = 0;  ///< a negative error number
  std::vector<FakeFormat> formats = {{}};
  std::vector<FakeControl> controls;

  std::uint32_t padding = 0;      ///< bytes at the end of a row
  std::uint32_t image_bytes = 0;  ///< of the format; 0: what it takes
  std::uint32_t colorspace = V4L2_COLORSPACE_SRGB;
  std::uint32_t matrix = V4L2_YCBCR_ENC_DEFAULT;
  std::uint32_t range = V4L2_QUANTIZATION_DEFAULT;
  std::uint32_t fewest_buffers = 2;
  std::uint32_t most_buffers = 32;
  bool has_user_memory = true;
  bool has_interval = true;  ///< can be set

  /// Changes each frame before it is delivered.
  std::function<void(FakeFrame&)> change;
  /// The numbers of frames at which the stream stalls until it is started again.
  std::vector<std::int64_t> stalls;
  int dead_starts = 0;           ///< how many starts stay without frames
  bool is_always_ready = false;  ///< poll() says so, without a frame
  int unmappable = -1;           ///< the index of a buffer that can't be mapped
  /// The results of the next calls of a request: 0 or a negative error number.
  std::map<std::uint64_t, std::deque<int>> next_errors;
  /// The result of all later calls of a request.
  std::map<std::uint64_t, int> all_errors;
  /// Called while a request is handled, without FakeCalls' lock.
  std::map<std::uint64_t, std::function<void()>> hooks;

  // What a test looks at.
  std::map<std::uint64_t, int> calls;         ///< of each request
  std::vector<std::uintptr_t> user_pointers;  ///< that were queued
  int starts = 0;
  std::int64_t produced = 0;  ///< frames, delivered or not
  std::map<std::uint32_t, std::int64_t> control_values;
  /// What a reader must count for the frames that were dequeued.
  struct Truth {
    std::int64_t good = 0;
    std::int64_t corrupt = 0;
    std::int64_t no_buffer = 0;
    std::int64_t lost = 0;
  };
  Truth truth;

  // The driver's own.
  struct Buffer {
    enum class State { kFree, kQueued, kDone };
    std::shared_ptr<std::vector<std::byte>> memory;  ///< mapped
    std::byte* data = nullptr;
    std::uint32_t length = 0;
    State state = State::kFree;
    FakeFrame frame;
  };
  std::uint64_t generation = 0;  ///< rises when it is unplugged: older descriptors are dead
  int owner = -1;                ///< the descriptor that has the buffers
  v4l2_pix_format pixels{};
  v4l2_fract interval = {1, 30};
  std::uint32_t memory = 0;
  std::vector<Buffer> buffers;
  std::deque<std::uint32_t> queued;
  std::deque<std::uint32_t> done;
  std::deque<v4l2_event> events;
  bool is_streaming = false;
  bool is_stalled = false;
  bool was_dry = false;
  std::uint32_t sequence = 0;
  std::int64_t last_number = -1;  ///< of the frame that was dequeued last since the start
  std::int64_t pending = 0;       ///< frames without a buffer before the next good one
  std::int64_t pending_lost = 0;
  Clock::time_point next_frame;
};

}  // namespace saccade::test
