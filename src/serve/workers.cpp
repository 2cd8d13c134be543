#include "serve/workers.hpp"

namespace saccade::serve {

Workers::Workers(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::add(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  added_.notify_one();
}

void Workers::work() {
  for (;;) {
    std::function<void()> next;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next();
  }
}

}  // namespace saccade::serve
