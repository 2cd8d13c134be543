#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "media/v4l2/capture_buffers.hpp"
#include "media/v4l2/stream_format.hpp"

namespace saccade::v4l2 {

/// A buffer that the driver has filled.
struct FilledBuffer {
  std::uint32_t index = 0;
  std::size_t bytes = 0;
  std::uint32_t sequence = 0;
  std::int64_t stamp_ns = 0;
  bool is_monotonic = false;  ///< stamp_ns is of CLOCK_MONOTONIC
  bool is_corrupt = false;    ///< the driver says so
};

/// A camera from its opening to its closing: it is configured, and streams between start() and stop(). One thread, but
/// leases of its buffers may outlive it.
class Session {
 public:
  /// Opens PATH, sets the mode and the controls of OPTIONS and requests buffers. Throws Error naming the camera.
  Session(std::shared_ptr<SystemCalls> calls, const std::string& path, const CameraOptions& options,
          const ModelSize& model);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const Device& device() const { return device_; }
  const StreamFormat& format() const { return format_; }
  CaptureBuffers& buffers() { return *buffers_; }

  /// Whether the driver fills buffers of the pipeline, or may once it has started.
  bool may_hold_pipelines() const;
  /// Gives buffers to the driver and starts. 0, or a negative error number.
  int start(FrameAllocator& allocator);
  void stop() noexcept;
  /// The next filled buffer, which CaptureBuffers::take_filled() takes. 0, or a negative error number: -EAGAIN without
  /// one.
  int dequeue(FilledBuffer& filled);
  /// Takes all events. Whether the input's signal, and with it the format, has changed.
  bool has_new_format();

 private:
  void choose_buffers(FrameAllocator& allocator);
  void use_mapped();
  int replace_by_mapped();
  bool use_pipelines();

  std::shared_ptr<SystemCalls> calls_;
  CameraOptions options_;
  // Destroyed after the device is closed: pages that it may write to are the pipeline's again then.
  BuffersOwner buffers_;  ///< null where the driver has refused both kinds
  Device device_;
  StreamFormat format_;
  bool has_chosen_ = false;  ///< the kind of buffers
};

}  // namespace saccade::v4l2
