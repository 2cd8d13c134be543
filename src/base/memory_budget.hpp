#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace saccade {

/// Three quarters of the memory that this process may use: the machine's, or less if a control group or a limit of the
/// process (`ulimit -v`, `ulimit -d`) is lower.
std::size_t default_memory_limit();

/// Memory available without taking it from others: the machine's free memory, or less if a control group or a limit of
/// the process leaves less.
std::size_t free_memory();

/// The lowest limit of the control groups that GROUPS (/proc/self/cgroup) names and of their parents; ROOT is the mount
/// point of their file system. The largest number if there is none.
std::size_t control_group_limit(const std::filesystem::path& root, std::string_view groups);
/// What remains of these limits; cached files count as free.
std::size_t control_group_room(const std::filesystem::path& root, std::string_view groups);

/// "1.5 GiB"
std::string readable_bytes(std::size_t bytes);

/// The memory that a model may take, counted before it is allocated, so that a small file cannot request any amount.
class MemoryBudget {
 public:
  /// LIMIT in bytes; 0: default_memory_limit().
  explicit MemoryBudget(std::size_t limit = 0) : limit_(limit == 0 ? default_memory_limit() : limit) {}

  /// Throws Error (kUnsupported) saying how to allow more if BYTES do not fit.
  void check(std::size_t bytes) const;
  /// The same, and takes them.
  void take(std::size_t bytes) {
    check(bytes);
    taken_ += bytes;
  }
  std::size_t taken() const { return taken_; }

 private:
  std::size_t limit_;
  std::size_t taken_ = 0;
};

}  // namespace saccade
