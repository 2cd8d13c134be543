#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "serve/memory_regions.hpp"
#include "tensor/frame.hpp"

namespace saccade::serve {

/// The image of a request. Its memory is reserved before it is allocated: a small file may be a large image. One thread
/// at a time; the memory regions outlive it.
class RequestImage final : private FrameAllocator {
 public:
  explicit RequestImage(MemoryRegions& regions) : regions_(regions) {}
  ~RequestImage() override { frame_ = {}; }
  RequestImage(const RequestImage&) = delete;
  RequestImage& operator=(const RequestImage&) = delete;

  /// Decodes the bytes of a JPEG or PNG FILE. False if there is no room for it now. Throws Error (kInvalidFile) if it
  /// is damaged, of another kind, declares more than MOST_PIXELS, or never fits.
  bool decode(std::span<const std::uint8_t> file, std::int64_t most_pixels);
  /// What decode() has read. Valid as long as this lives.
  const FrameView& view() const { return frame_.view; }

 private:
  FrameLease acquire(std::size_t bytes) override;
  FrameLease try_acquire(std::size_t bytes) override { return acquire(bytes); }
  void release(FrameBuffer& buffer) noexcept override;
  void take(std::size_t bytes) override;
  void give_back(std::size_t bytes) noexcept override;

  MemoryRegions& regions_;
  bool has_room_ = true;
  PendingBytes pending_;  ///< of the buffer
  PendingBytes working_;  ///< of the decoder
  std::size_t working_bytes_ = 0;
  FrameBuffer buffer_;
  Frame frame_;
};

}  // namespace saccade::serve
