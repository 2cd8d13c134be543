#include "media/v4l2/session.hpp"

#include <linux/videodev2.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/log.hpp"
#include "media/v4l2/controls.hpp"

namespace saccade::v4l2 {

Session::Session(std::shared_ptr<SystemCalls> calls, const std::string& path, const CameraOptions& options,
                 const ModelSize& model)
    : calls_(std::move(calls)), options_(options), device_(calls_, path) {
  device_.check_capture();
  format_ = set_format(device_, options_, model);
  set_controls(device_, options_.controls);
  v4l2_event_subscription subscription{};
  subscription.type = V4L2_EVENT_SOURCE_CHANGE;
  device_.control(VIDIOC_SUBSCRIBE_EVENT, &subscription);  // cameras without an input of video have no such event
  if (options_.io == CameraIo::kUserptr && use_pipelines())
    has_chosen_ = true;
  else
    use_mapped();
}

Session::~Session() {
  stop();
  if (buffers_) buffers_->detach();
}

void Session::use_mapped() {
  buffers_.reset();
  buffers_ = map_buffers(device_, calls_, options_.buffers);
}

/// The same while the source runs. 0, or a negative error number: there are no buffers then.
int Session::replace_by_mapped() {
  try {
    use_mapped();
    return 0;
  } catch (const Error& refusal) {
    log(LogLevel::kWarning, "{}", refusal.what());
  }
  v4l2_capability capability{};
  const int error = device_.control(VIDIOC_QUERYCAP, &capability);
  return error != 0 ? error : -EIO;
}

/// False, with a message, where the pipeline's buffers can't be filled.
bool Session::use_pipelines() {
  if (format_.mode.format->is_compressed()) {
    log(LogLevel::kInfo, "{}: io=userptr does not apply to {}, which is decoded: the driver's buffers are mapped",
        device_.name(), format_.mode.format->name);
    return false;
  }
  buffers_.reset();
  try {
    buffers_ = user_buffers(device_, format_.image_bytes, options_.buffers);
    return true;
  } catch (const Error& error) {
    log(LogLevel::kWarning, "{}; its buffers are mapped instead (io=mmap)", error.what());
    return false;
  }
}

/// Of memory that a GPU reads directly, the driver fills the frames themselves: the copy is one less.
void Session::choose_buffers(FrameAllocator& allocator) {
  has_chosen_ = true;
  if (options_.io != CameraIo::kAuto || format_.mode.format->is_compressed()) return;
  const FrameLease sample = allocator.try_acquire(format_.image_bytes);
  if (sample && sample.buffer().memory == MemoryKind::kPinned) use_pipelines();
}

bool Session::may_hold_pipelines() const {
  if (!has_chosen_) return options_.io != CameraIo::kMmap && !format_.mode.format->is_compressed();
  return buffers_ && buffers_->memory_type() == V4L2_MEMORY_USERPTR;
}

int Session::start(FrameAllocator& allocator) {
  if (!has_chosen_) choose_buffers(allocator);
  int error = buffers_ ? 0 : replace_by_mapped();
  if (error != 0) return error;
  error = buffers_->queue(allocator);
  if (error != 0 && buffers_->queued() == 0 && buffers_->memory_type() == V4L2_MEMORY_USERPTR) {
    log(LogLevel::kWarning,
        "{}: its driver can't write into the pipeline's buffers ({}); its own are mapped instead "
        "(io=mmap)",
        device_.name(), error_text(error));
    error = replace_by_mapped();
    if (error != 0) return error;
    error = buffers_->queue(allocator);
  }
  if (error != 0 && buffers_->queued() == 0) return error;
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  return device_.control(VIDIOC_STREAMON, &type);
}

void Session::stop() noexcept {
  if (buffers_) buffers_->stop(device_);
}

int Session::dequeue(FilledBuffer& filled) {
  v4l2_buffer buffer{};
  buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  buffer.memory = buffers_->memory_type();
  if (const int error = device_.control(VIDIOC_DQBUF, &buffer); error != 0) return error;
  filled = {
      .index = buffer.index,
      .bytes = buffer.bytesused,
      .sequence = buffer.sequence,
      .stamp_ns = std::int64_t{buffer.timestamp.tv_sec} * 1'000'000'000 + std::int64_t{buffer.timestamp.tv_usec} * 1000,
      .is_monotonic = (buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
      .is_corrupt = (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0};
  return 0;
}

bool Session::has_new_format() {
  bool has_changed = false;
  v4l2_event event{};
  while (device_.control(VIDIOC_DQEVENT, &event) == 0)
    has_changed = has_changed || (event.type == V4L2_EVENT_SOURCE_CHANGE &&
                                  (event.u.src_change.changes & V4L2_EVENT_SRC_CH_RESOLUTION) != 0);
  return has_changed;
}

}  // namespace saccade::v4l2
