#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace saccade::serve {

/// The requests of a server that have no response yet, and those whose response is not sent yet, with their memory. Any
/// thread.
class InFlight {
 public:
  explicit InFlight(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// A request of BYTES has come; false if it exceeds the bound, and does not count.
  bool begin(std::size_t bytes);
  /// A request of REQUEST_BYTES has its response, of RESPONSE_BYTES, and is no longer in memory.
  void respond(std::size_t request_bytes, std::size_t response_bytes);
  /// A response of BYTES was sent, or its client has gone.
  void end(std::size_t bytes);
  /// Returns once all requests have their responses, and these are sent or PATIENCE is over.
  void wait(std::chrono::milliseconds patience);

 private:
  std::size_t most_bytes_;
  std::atomic<std::size_t> bytes_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
  std::size_t unsent_ = 0;  ///< those that run, too
};

}  // namespace saccade::serve
