#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "media/v4l2/device.hpp"
#include "tensor/frame.hpp"

namespace saccade::v4l2 {

/// The buffers that the driver of one open camera fills. One thread, except for the leases.
class CaptureBuffers {
 public:
  virtual ~CaptureBuffers() = default;
  /// Ends the use of the device, which is closed next.
  virtual void detach() noexcept {}
  /// Destroys the buffers once no lease is left.
  virtual void retire() noexcept { delete this; }
  /// Gives the driver every buffer that is free, taking those of the pipeline from ALLOCATOR. 0, or the first negative
  /// error number; what it concerns stays free.
  virtual int queue(FrameAllocator& allocator) = 0;
  /// Takes the buffer INDEX, which the driver has filled. Empty if the driver does not hold it.
  virtual FrameLease take_filled(std::uint32_t index) = 0;
  /// Stops DEVICE's stream: the driver holds none then. A lease that ends meanwhile waits, because the driver would
  /// return its buffer unseen.
  virtual void stop(const Device& device) noexcept = 0;
  /// How many the driver holds.
  virtual int queued() const = 0;
  /// Whether queue() has something to do, as far as it depends on the pipeline or on a driver that has refused it.
  virtual bool has_free() const = 0;

  /// V4L2's number of the kind of memory.
  std::uint32_t memory_type() const { return memory_; }
  /// How often the driver has refused a buffer since the last call.
  std::int64_t take_refusals() { return refusals_.exchange(0); }
  /// Whether the driver held no buffer at some time since the last call: it skipped frames then.
  bool ran_dry() { return ran_dry_.exchange(false); }

 protected:
  explicit CaptureBuffers(std::uint32_t memory) : memory_(memory) {}

  std::atomic<std::int64_t> refusals_ = 0;
  std::atomic<bool> ran_dry_ = false;

 private:
  std::uint32_t memory_;
};

struct RetireBuffers {
  void operator()(CaptureBuffers* buffers) const noexcept { buffers->retire(); }
};
using BuffersOwner = std::unique_ptr<CaptureBuffers, RetireBuffers>;

/// COUNT buffers of DEVICE's driver, mapped; the driver may change the number. They are their own allocator: a lease
/// that ends gives its buffer back to the driver, on any thread. The memory stays mapped until the last lease ends,
/// also after the device is closed. Throws Error (kDevice) if the driver refuses.
BuffersOwner map_buffers(const Device& device, const std::shared_ptr<SystemCalls>& calls, int count);

/// COUNT buffers of the pipeline, of BYTES each, which the driver fills. The pipeline's allocator counts those that the
/// driver holds. They must begin at a page. Throws Error (kDevice) if the driver can't fill such buffers.
BuffersOwner user_buffers(const Device& device, std::size_t bytes, int count);

}  // namespace saccade::v4l2
