#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.hpp"
#include "serve/trace_context.hpp"

namespace saccade::serve {

/// A request for a model that has its response.
struct Access {
  std::string_view method;                     ///< "infer", "predict"
  std::string model;                           ///< as the client wrote it
  std::variant<int, std::string_view> status;  ///< of HTTP, or the name of gRPC's
  Clock::duration duration{};                  ///< from its arrival until its response was made
  std::size_t request_bytes = 0;
  std::size_t response_bytes = 0;
};

/// A file with a line of JSON for each request. Any thread.
class AccessLog {
 public:
  /// Appends to the file PATH; "-" is standard error. Throws Error: (kConflict) if it is read or written
  /// otherwise, (kIo) if it can't be written.
  explicit AccessLog(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// Writes a line. If that fails, the log says so once, and requests go on.
  void add(const Access& access, const TraceContext& trace) noexcept;
  /// Throws Error (kIo) if lines could not be written.
  void check() const;

 private:
  std::string path_;
  int file_;
  std::atomic<std::uint64_t> lost_{0};  ///< lines
};

}  // namespace saccade::serve
