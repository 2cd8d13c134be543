#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace saccade::isolated {

/// Buffers of one size in memory that two processes map. Its size is sealed: neither can shrink it under the other.
class SharedMemory {
 public:
  /// Creates BUFFERS buffers of at least BYTES each. Throws Error (kIo) if there is no memory.
  static SharedMemory create(std::size_t buffers, std::size_t bytes);
  /// Maps those of DESCRIPTOR, which it closes. Throws Error (kIo) if it is smaller than they are.
  static SharedMemory open(int descriptor, std::size_t buffers, std::size_t buffer_bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  int descriptor() const { return descriptor_; }
  std::size_t buffers() const { return buffers_; }
  /// Of one buffer: whole pages, of which the last 64 bytes are slack (FrameMemory::allocate()).
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  /// Of one buffer without the slack.
  std::size_t capacity() const { return buffer_bytes_ - kSlack; }
  std::size_t bytes() const { return buffers_ * buffer_bytes_; }
  std::byte* data() const { return data_; }
  std::byte* buffer(std::size_t index) const { return data_ + index * buffer_bytes_; }

 private:
  static constexpr std::size_t kSlack = 64;
  SharedMemory(int descriptor, std::size_t buffers, std::size_t buffer_bytes)
      : descriptor_(descriptor), buffers_(buffers), buffer_bytes_(buffer_bytes) {}
  void map();

  int descriptor_;
  std::size_t buffers_;
  std::size_t buffer_bytes_;
  std::byte* data_ = nullptr;
};

std::size_t page_bytes();

/// A number that both processes read and write.
using Word = std::atomic<std::int64_t>;
static_assert(Word::is_always_lock_free);
/// The one at the beginning of MEMORY.
inline Word& word_in(const SharedMemory& memory) { return *reinterpret_cast<Word*>(memory.data()); }

}  // namespace saccade::isolated
