#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace saccade {

void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  const auto wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(run);
  } catch (const std::system_error&) {  // thread limit reached: the existing threads do the work
  }
  run();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace saccade
