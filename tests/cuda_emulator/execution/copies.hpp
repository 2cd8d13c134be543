#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace saccade::emulator {

/// One thread's cp.async operations in flight. They complete as late as possible: when the thread waits for their
/// group.
class Copies {
 public:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
    std::size_t read;  ///< zero-filled beyond
  };

  void begin(const Copy& copy) { open_.push_back(copy); }
  void commit() {
    groups_.push_back(std::move(open_));
    open_.clear();
  }
  /// Completes all groups but the newest PENDING.
  void wait(std::size_t pending) {
    if (groups_.size() <= pending) return;
    const auto end = groups_.end() - static_cast<std::ptrdiff_t>(pending);
    for (auto group = groups_.begin(); group != end; ++group) finish(*group);
    groups_.erase(groups_.begin(), end);
  }
  /// Hands over all copies in flight; the caller calls finish().
  std::vector<Copy> take() {
    std::vector<Copy> all;
    for (const auto& group : groups_) all.insert(all.end(), group.begin(), group.end());
    all.insert(all.end(), open_.begin(), open_.end());
    drop();
    return all;
  }
  static void finish(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
      if (copy.read > 0) std::memcpy(copy.to, copy.from, copy.read);
      std::memset(static_cast<std::byte*>(copy.to) + copy.read, 0, copy.bytes - copy.read);
    }
  }
  void drop() {
    open_.clear();
    groups_.clear();
  }

 private:
  std::vector<Copy> open_;
  std::vector<std::vector<Copy>> groups_;
};

}  // namespace saccade::emulator
