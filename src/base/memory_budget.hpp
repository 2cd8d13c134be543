#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace saccade {

/// Three quarters of the memory that this process may use: the machine's, or less where a control group or a limit of
/// the process (`ulimit -v`, `ulimit -d`) allows less.
std::size_t default_memory_limit();

/// What can be had now without taking it from others: what is free on the machine, or less where a control group or a
/// limit of the process leaves less.
std::size_t free_memory();

/// The least limit among the control groups that GROUPS (/proc/self/cgroup) names and those around them; ROOT is where
/// their file system is mounted. The largest number where none has one.
std::size_t control_group_limit(const std::filesystem::path& root, std::string_view groups);
/// What these groups leave: their limits without what is in use, which files that are only cached are not.
std::size_t control_group_room(const std::filesystem::path& root, std::string_view groups);

/// "1.5 GiB"
std::string readable_bytes(std::size_t bytes);

/// What a model may still take: counted before it is allocated, so that a small file can't ask for any amount.
class MemoryBudget {
 public:
  /// LIMIT in bytes; 0: default_memory_limit().
  explicit MemoryBudget(std::size_t limit = 0) : limit_(limit == 0 ? default_memory_limit() : limit) {}

  /// Throws Error (kUnsupported) saying how to allow more where BYTES do not fit beside what is taken.
  void check(std::size_t bytes) const;
  /// The same; then they are taken.
  void take(std::size_t bytes) {
    check(bytes);
    taken_ += bytes;
  }

 private:
  std::size_t limit_;
  std::size_t taken_ = 0;
};

}  // namespace saccade
