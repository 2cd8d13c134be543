#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace saccade {

/// When a sink ends its file and begins the next one. With `bytes` or `period`, results go to numbered files instead of
/// the named one: out-000001.jsonl, out-000002.jsonl, ... for out.jsonl. The first number follows the highest one in
/// the folder, so that no existing file is replaced. Each file is complete in itself. The next one begins with the
/// result that would exceed a limit, so no result is divided. Standard output, devices and FIFOs do not rotate.
struct Rotation {
  /// Largest size of a file in bytes; 0: no limit. A single larger result has a file of its own. A video ends once
  /// its encoder has produced so much, which is a few frames late; the container's own bytes do not count.
  std::uint64_t bytes = 0;
  /// Longest time between the first result of a file and its last, of a video between the timestamps of its frames;
  /// 0: no limit.
  std::chrono::nanoseconds period{};
  /// Number of finished files to keep, beside the one being written: older ones of the same sink are deleted, those of
  /// earlier runs never. 0: all.
  std::size_t keep = 0;

  /// Whether files are rotated at all.
  bool is_on() const noexcept { return bytes > 0 || period.count() > 0; }
};

}  // namespace saccade
