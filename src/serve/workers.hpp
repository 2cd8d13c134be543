#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace saccade::serve {

/// Threads that do what may take long, in the order in which it comes. Any thread.
class Workers {
 public:
  explicit Workers(std::size_t threads);
  /// Does what was added.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// WORK must not throw.
  void add(std::function<void()> work);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> waiting_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace saccade::serve
