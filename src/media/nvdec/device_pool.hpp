#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/driver/handles.hpp"
#include "tensor/frame.hpp"

namespace saccade::nvdec {

/// Buffers of a GPU for decoded images. It owns itself: its leases may outlive the decoder, and the last of them
/// destroys it. Buffers are allocated with the first image, and when images grow, as far as there is memory to spare.
class DevicePool final : public FrameAllocator {
 public:
  /// Buffers for FRAMES' pipeline, and those that a decoder returns at once. They count against the limit of FRAMES.
  DevicePool(int device, FrameAllocator& frames);
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  /// A buffer of at least BYTES; an empty lease if all are in use. Throws Error (kUnsupported) beyond the limit of
  /// frames, (kDevice) without memory. The decoder's thread.
  FrameLease lease(std::size_t bytes);
  /// The event of a buffer of lease(), after which its samples are there.
  static cuda::CUevent ready_event(const FrameBuffer& buffer);
  /// Waits until the pipeline may have a further image. False once cancelled.
  bool wait_for_room();
  /// Whether the pipeline may have a further image.
  bool has_room() const;
  void cancel() noexcept;
  /// Its memory counts against the limit, or does not. count() throws Error (kUnsupported) beyond it.
  void count();
  void uncount() noexcept;
  /// Destroys it once no lease is left.
  void retire() noexcept;

  // The images are the decoder's: these are for sources that write into a pool.
  FrameLease acquire(std::size_t /*bytes*/) override { return {}; }
  FrameLease try_acquire(std::size_t /*bytes*/) override { return {}; }
  void release(FrameBuffer& buffer) noexcept override;
  FrameView host_view(FrameBuffer& buffer, const FrameView& view) override;

 private:
  struct Buffer : FrameBuffer {
    cuda::DeviceMemory device;
    cuda::Event ready;
    std::mutex mutex;  ///< of the following
    cuda::PinnedMemory host;
    std::size_t host_bytes = 0;
    bool is_copied = false;
  };

  ~DevicePool() override;
  Buffer* best_for(std::size_t bytes);
  Buffer* make();
  void grow(Buffer& buffer, std::size_t bytes);
  void fill_up(std::size_t bytes);
  void add(std::size_t bytes);
  void download(Buffer& buffer, std::size_t bytes);

  const int device_;
  FrameAllocator& frames_;
  const std::size_t most_leased_;
  cuda::Stream downloads_;
  mutable std::mutex mutex_;  ///< of the following
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> free_;
  std::size_t leased_ = 0;
  std::size_t filled_ = 0;  ///< bytes of a buffer at the last fill_up()
  bool is_full_ = false;    ///< no buffer is left that fill_up() has to allocate
  std::size_t bytes_ = 0;   ///< of all buffers and their copies
  bool is_counted_ = true;
  bool is_cancelled_ = false;
  bool is_retired_ = false;
};

struct RetirePool {
  void operator()(DevicePool* pool) const noexcept { pool->retire(); }
};

}  // namespace saccade::nvdec
