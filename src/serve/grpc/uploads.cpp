#include "grpc/uploads.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.hpp"
#include "base/slow_client.hpp"
#include "grpc/call.hpp"

namespace saccade::serve {

Uploads::Uploads(std::size_t most_bytes, ReceivedBytes received_bytes)
    : most_bytes_(most_bytes), received_bytes_(std::move(received_bytes)), thread_([this] { watch(); }) {}

Uploads::~Uploads() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void Uploads::begin(Call& call) {
  const std::scoped_lock lock(mutex_);
  uploads_.try_emplace(&call);
}

bool Uploads::end(Call& call) {
  const std::scoped_lock lock(mutex_);
  return uploads_.erase(&call) > 0;
}

void Uploads::watch() {
  constexpr std::chrono::seconds kPause{1};
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kPause, [this] { return is_ending_; })) {
    std::vector<Call*> slow;
    try {
      take_slow(slow, kPause);
    } catch (const std::exception& error) {  // the others come up again
      log(LogLevel::kWarning, "slow messages can't be found: {}", error.what());
    }
    lock.unlock();
    // gRPC may call the reactions of a call from within.
    for (Call* call : slow) call->expire();
    lock.lock();
  }
}

/// Moves the calls that are too slow, and older than LEAST, to SLOW. Under the lock.
void Uploads::take_slow(std::vector<Call*>& slow, Clock::duration least) {
  const Clock::time_point now = Clock::now();
  for (auto each = uploads_.begin(); each != uploads_.end();) {
    auto& [call, upload] = *each;
    const bool is_slow = now - upload.began >= least && is_too_slow(*call, upload, now);
    if (is_slow) slow.push_back(call);
    each = is_slow ? uploads_.erase(each) : std::next(each);
  }
}

/// Under the lock, so that CALL is there.
bool Uploads::is_too_slow(Call& call, Upload& upload, Clock::time_point now) const {
  const auto received = received_bytes_(call.context().peer());
  if (received && !upload.first_bytes) upload.first_bytes = received;
  const std::uint64_t bytes = received ? *received - *upload.first_bytes : upload.bytes;
  if (bytes > upload.bytes || !received) upload.last_piece = now;
  upload.bytes = bytes;
  if (now > upload.began + transfer_timeout(most_bytes_)) return true;
  return received && now > std::min(upload.last_piece + kClientTimeout, upload.began + transfer_timeout(bytes));
}

}  // namespace saccade::serve
