#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace saccade {

/// Lets the sources of a run that are read in real time begin together, each with its first frame decoded: while many
/// decoders start, those that have started are held up, and frames would be dropped. Any thread.
class CommonStart {
 public:
  /// One more source will arrive.
  void expect();
  /// A source has its first frame, or will have none. Its place among all of them, from 0 to below 1: sources that
  /// deliver in turn, as free-running cameras, wait less than those that deliver at once.
  double arrive();
  /// Waits until all have arrived or CANCELLED is set, and no longer than a minute: a file may be a pipe without
  /// a writer.
  void wait(const std::atomic<bool>& cancelled);
  /// Makes those who wait look whether they are cancelled.
  void wake() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int expected_ = 0;
  int arrived_ = 0;
};

}  // namespace saccade
