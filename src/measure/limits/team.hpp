#pragma once

#include <sched.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace saccade {

/// Threads that do the same work at the same time, for measuring what they reach together. The calling thread is one of
/// them. Each keeps to a CPU of its own while the team lives, where there are enough: a busy machine's scheduler may
/// leave two on one CPU for seconds. A thread that waits sleeps, so that it is owed the CPU when the others are there.
class Team {
 public:
  /// Throws Error (kUnsupported) where the system starts no more threads.
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls WORK(rank) on every thread at once, WINDOWS times in a row; seconds from the first one's start to the last
  /// one's end, of the window where that was the shortest.
  double time(int windows, const std::function<void(int rank)>& work);

 private:
  struct Span {
    double start = 0;
    double end = 0;
  };

  void serve(int rank);
  /// Ends the workers.
  void end();
  /// Keeps the calling thread to the CPU number RANK among those that the process may use.
  void stay_on_cpu(int rank) const;
  void run(int rank);
  /// Says that this thread has come to COUNT, and waits for the others.
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
