#pragma once

#include <sched.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace saccade {

/// Threads that do the same work at the same time, to measure their combined rate. The calling thread is one of them.
/// Each is pinned to a CPU while the team exists, if there are enough: a busy machine's scheduler may leave two on one
/// CPU for seconds. Waiting threads sleep, so that the scheduler favours them afterwards.
class Team {
 public:
  /// Throws Error (kUnsupported) if the system refuses more threads.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls WORK(rank) on every thread at once, WINDOWS times in a row; returns the seconds from the first start to the
  /// last end, of the shortest window.
  double time(int windows, const std::function<void(int rank)>& work);

 private:
  struct Span {
    double start = 0;
    double end = 0;
  };

  void serve(int rank);
  /// Stops the workers.
  void end();
  /// Pins the calling thread to CPU number RANK of those available to the process.
  void stay_on_cpu(int rank) const;
  void run(int rank);
  /// A barrier: waits until all threads have reached COUNT.
  void meet(std::atomic<int>& count);

  const std::function<void(int rank)>* work_ = nullptr;
  std::vector<std::vector<Span>> spans_;  // by thread and window
  std::atomic<int> generation_{0};
  std::atomic<int> awake_{0};
  std::atomic<int> ready_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> stop_{false};
  cpu_set_t allowed_{};
  std::vector<std::thread> workers_;
};

}  // namespace saccade
