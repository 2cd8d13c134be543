#include "http/body_buffer.hpp"

#include <algorithm>
#include <utility>

namespace saccade::http {

BodyBuffer::BodyBuffer(std::size_t total, std::string_view begin) : total_(total), size_(begin.size()) {
  bytes_.reserve(total);  // its pages come as they are written
  bytes_.assign(begin);
}

std::span<char> BodyBuffer::tail() {
  // The zeros of a new tail are still in the cache when bytes replace them.
  constexpr std::size_t kFirst = 16 << 10;
  constexpr std::size_t kMost = 256 << 10;
  if (bytes_.size() == size_) bytes_.resize(std::min(total_, size_ + std::clamp(size_, kFirst, kMost)));
  return {bytes_.data() + size_, bytes_.size() - size_};
}

std::string BodyBuffer::take() {
  bytes_.resize(size_);
  total_ = 0;
  size_ = 0;
  return std::exchange(bytes_, {});
}

}  // namespace saccade::http
