#include <linux/videodev2.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/error.hpp"
#include "media/v4l2/camera_options.hpp"
#include "media/v4l2/capture_buffers.hpp"

namespace saccade::v4l2 {
namespace {

class UserBuffers final : public CaptureBuffers {
 public:
  UserBuffers(const Device& device, std::size_t bytes, std::size_t count)
      : CaptureBuffers(V4L2_MEMORY_USERPTR), device_(device), bytes_(bytes), leases_(count) {}

  int queue(FrameAllocator& allocator) override {
    int first = 0;
    for (std::uint32_t i = 0; i < leases_.size(); ++i) {
      if (leases_[i]) continue;
      FrameLease lease = allocator.try_acquire(bytes_);
      if (!lease) break;
      const int error = give_to_driver(i, lease.buffer());
      if (first == 0) first = error;
      if (error == 0) leases_[i] = std::move(lease);
    }
    return first;
  }

  FrameLease take_filled(std::uint32_t index) override {
    if (index >= leases_.size() || !leases_[index]) return {};
    if (--queued_ == 0) ran_dry_ = true;
    return std::move(leases_[index]);
  }

  void stop(const Device& device) noexcept override {
    device.stop_stream();
    for (FrameLease& lease : leases_) lease = FrameLease();
    queued_ = 0;
  }

  int queued() const override { return queued_; }
  bool has_free() const override { return queued_ < static_cast<int>(leases_.size()); }

 private:
  int give_to_driver(std::uint32_t index, const FrameBuffer& memory_of) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_of.data);
    // Drivers that take other addresses copy, or fail at the first frame.
    const bool is_page = address % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) == 0;
    v4l2_buffer buffer{};
    buffer.index = index;
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = memory_type();
    buffer.m.userptr = address;
    buffer.length = static_cast<std::uint32_t>(bytes_);
    const int error = is_page ? device_.control(VIDIOC_QBUF, &buffer) : -EINVAL;
    if (error == 0)
      ++queued_;
    else
      ++refusals_;
    return error;
  }

  const Device& device_;
  std::size_t bytes_;
  std::vector<FrameLease> leases_;  ///< of what the driver holds
  int queued_ = 0;
};

}  // namespace

BuffersOwner user_buffers(const Device& device, std::size_t bytes, int count) {
  v4l2_requestbuffers request{};
  request.count = static_cast<std::uint32_t>(count);
  request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  request.memory = V4L2_MEMORY_USERPTR;
  if (const int error = device.control(VIDIOC_REQBUFS, &request); error != 0)
    device.refused("its driver can't write into the pipeline's buffers", error);
  if (request.count < kFewestBuffers)
    fail(ErrorCode::kDevice, "{}: its driver takes {} buffers of the pipeline only", device.name(), request.count);
  return BuffersOwner(new UserBuffers(device, bytes, request.count));
}

}  // namespace saccade::v4l2
