#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace saccade::http {

/// A body of known length that is read where it stays. Memory grows with what has come: a length costs nothing. One
/// thread at a time.
class BodyBuffer {
 public:
  BodyBuffer() = default;
  /// For TOTAL bytes, of which BEGIN, at most as many, are here.
  BodyBuffer(std::size_t total, std::string_view begin);

  /// Bytes that have come.
  std::size_t size() const { return size_; }
  bool is_complete() const { return size_ == total_; }
  /// Where the next bytes go; empty: is_complete(). Valid until the next call.
  std::span<char> tail();
  /// COUNT bytes are in the tail.
  void commit(std::size_t count) { size_ += count; }
  /// What has come. Empty afterwards.
  std::string take();

 private:
  std::size_t total_ = 0;
  std::size_t size_ = 0;
  std::string bytes_;  ///< and the tail
};

}  // namespace saccade::http
