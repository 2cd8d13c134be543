#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace saccade {

/// Threads that do the same work at the same time, for measuring what they reach together. The calling thread is one of
/// them; the others spin between two windows, so let a team live only as long as it is used.
class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls WORK(rank) on every thread; seconds from the first one's start to the last one's end.
  double time(const std::function<void(int rank)>& work);

 private:
  struct Window {
    double start = 0;
    double end = 0;
  };

  void serve(int rank);
  void run(int rank);

  const std::function<void(int rank)>* work_ = nullptr;
  std::vector<Window> windows_;
  std::atomic<int> generation_{0};
  std::atomic<int> ready_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace saccade
