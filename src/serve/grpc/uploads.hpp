#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"

namespace saccade::serve {

class Call;

/// The calls whose message has not come yet. A thread finishes those that are as slow as no body by HTTP may be
/// (base/slow_client.hpp). gRPC does not tell how much of a message has come, so what comes over the connection counts:
/// a message that stalls beside others has the time of the largest. Any thread.
class Uploads {
 public:
  /// How much has come over the connection with a peer; nullopt: it is not known, and does not count as slow.
  using ReceivedBytes = std::function<std::optional<std::uint64_t>(const std::string& peer)>;

  /// MOST_BYTES: of a message.
  Uploads(std::size_t most_bytes, ReceivedBytes received_bytes);
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  /// The message of CALL is to come.
  void begin(Call& call);
  /// The message has come, or never will. False: CALL was too slow, and belongs to the thread that expires it.
  bool end(Call& call);

 private:
  struct Upload {
    Clock::time_point began = Clock::now();
    std::optional<std::uint64_t> first_bytes = {};  ///< of its connection, when it was first looked at
    std::uint64_t bytes = 0;                        ///< since then
    Clock::time_point last_piece = began;
  };

  void watch();
  void take_slow(std::vector<Call*>& slow, Clock::duration least);
  bool is_too_slow(Call& call, Upload& upload, Clock::time_point now) const;

  std::size_t most_bytes_;
  ReceivedBytes received_bytes_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::unordered_map<Call*, Upload> uploads_;
  bool is_ending_ = false;
  std::thread thread_;  ///< last member: it uses all the others
};

}  // namespace saccade::serve
