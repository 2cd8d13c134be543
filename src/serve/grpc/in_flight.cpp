#include "grpc/in_flight.hpp"

namespace saccade::serve {

bool InFlight::begin(std::size_t bytes) {
  if (bytes_.fetch_add(bytes) + bytes > most_bytes_) {
    bytes_ -= bytes;
    return false;
  }
  const std::scoped_lock lock(mutex_);
  ++running_;
  ++unsent_;
  return true;
}

void InFlight::respond(std::size_t request_bytes, std::size_t response_bytes) {
  bytes_ += response_bytes;
  bytes_ -= request_bytes;
  const std::scoped_lock lock(mutex_);
  if (--running_ == 0) changed_.notify_all();
}

void InFlight::end(std::size_t bytes) {
  bytes_ -= bytes;
  const std::scoped_lock lock(mutex_);
  if (--unsent_ == 0) changed_.notify_all();
}

void InFlight::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
  changed_.wait_for(lock, patience, [this] { return unsent_ == 0; });
}

}  // namespace saccade::serve
