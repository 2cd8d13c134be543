#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/http_module.hpp"
#include "http/routes.hpp"

namespace saccade::http {

/// What the connections of a server share. They keep it alive.
struct Shared {
  Shared(const HttpOptions& of, std::vector<HttpRoute> served);

  HttpOptions options;
  Routes routes;
  std::unique_ptr<boost::asio::ssl::context> tls;  ///< null: none
  boost::asio::io_context io;
  boost::asio::thread_pool workers;

  enum class When {
    kAfterReply,     ///< of the request that is coming in, too
    kUnlessRunning,  ///< only a request that a handler has may get its reply
    kAtOnce,
  };
  /// A connection's means to end it.
  using End = std::function<void(When)>;
  /// Its number, or 0 if there are too many.
  std::size_t add(End end);
  void remove(std::size_t number);
  /// Ends all connections, later ones too. Returns whether none is left after PATIENCE.
  bool end_all(When when, std::chrono::milliseconds patience);
  bool is_ending();

  /// Whether BYTES more of bodies may come in, as it looks now.
  bool has_room(std::size_t bytes) const { return pending_bytes_ + bytes <= options.most_pending_bytes; }
  /// Counts BYTES more of bodies, unless these are too many; give them back with release().
  bool reserve(std::size_t bytes);
  void release(std::size_t bytes) { pending_bytes_ -= bytes; }

 private:
  std::mutex mutex_;
  std::condition_variable removed_;
  std::unordered_map<std::size_t, End> open_;
  std::size_t last_ = 0;
  bool is_ending_ = false;
  std::atomic<std::size_t> pending_bytes_{0};
};

}  // namespace saccade::http
