#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace saccade::emulator {

/// The copies that one thread has under way. They arrive as late as they may: when the thread waits for their group.
class Copies {
 public:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
    std::size_t read;  ///< the rest are zeros
  };

  void begin(const Copy& copy) { open_.push_back(copy); }
  void commit() {
    groups_.push_back(std::move(open_));
    open_.clear();
  }
  /// For all groups but the newest PENDING.
  void wait(std::size_t pending) {
    if (groups_.size() <= pending) return;
    const auto end = groups_.end() - static_cast<std::ptrdiff_t>(pending);
    for (auto group = groups_.begin(); group != end; ++group)
      for (const Copy& copy : *group) {
        if (copy.read > 0) std::memcpy(copy.to, copy.from, copy.read);
        std::memset(static_cast<std::byte*>(copy.to) + copy.read, 0, copy.bytes - copy.read);
      }
    groups_.erase(groups_.begin(), end);
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
