#include "http/shared.hpp"

#include "http/tls.hpp"

namespace saccade::http {

Shared::Shared(const HttpOptions& of, std::vector<HttpRoute> served)
    : options(of),
      routes(std::move(served)),
      tls(tls_context(of)),
      io(static_cast<int>(of.threads)),
      workers(of.workers) {}

std::size_t Shared::add(End end) {
  const std::scoped_lock lock(mutex_);
  if (is_ending_ || open_.size() >= options.connections) return 0;
  open_.emplace(++last_, std::move(end));
  return last_;
}

void Shared::remove(std::size_t number) {
  const std::scoped_lock lock(mutex_);
  open_.erase(number);
  if (open_.empty()) removed_.notify_all();
}

bool Shared::reserve(std::size_t bytes) {
  if (pending_bytes_.fetch_add(bytes) + bytes <= options.most_pending_bytes) return true;
  release(bytes);
  return false;
}

bool Shared::end_all(When when, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  is_ending_ = true;
  for (const auto& [number, end] : open_) end(when);
  return removed_.wait_for(lock, patience, [this] { return open_.empty(); });
}

bool Shared::is_ending() {
  const std::scoped_lock lock(mutex_);
  return is_ending_;
}

}  // namespace saccade::http
