#include "serve/access_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/utc.hpp"

namespace saccade::serve {
namespace {

using nlohmann::ordered_json;

std::string line_of(const Access& access, const TraceContext& trace) {
  std::string time;
  format_utc(std::back_inserter(time), std::chrono::system_clock::now());
  ordered_json line{{"time", time}, {"method", access.method}, {"model", access.model}};
  if (const int* http = std::get_if<int>(&access.status))
    line["http_status"] = *http;
  else
    line["grpc_status"] = std::get<std::string_view>(access.status);
  line["duration_ms"] = to_milliseconds(access.duration);
  line["request_bytes"] = access.request_bytes;
  line["response_bytes"] = access.response_bytes;
  if (!trace.trace_id.empty()) {
    line["trace_id"] = trace.trace_id;
    line["span_id"] = trace.span_id;
  }
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

/// One write per line, so that lines of several threads do not mix.
void write_line(int file, std::string_view line) {
  ssize_t written = 0;
  do {
    written = ::write(file, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) fail(ErrorCode::kIo, "{}", std::strerror(errno));
  if (static_cast<std::size_t>(written) < line.size()) fail(ErrorCode::kIo, "no space is left");
}

}  // namespace

AccessLog::AccessLog(const std::string& path) : path_(path), file_(STDERR_FILENO) {
  constexpr mode_t kOwnersAndGroups = 0640;
  if (path_ == "-") return;
  if (!is_stream_path(path_)) claim_output(path_);
  file_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kOwnersAndGroups);
  if (file_ < 0) fail(ErrorCode::kIo, "can't write {}: {}", path_, std::strerror(errno));
}

AccessLog::~AccessLog() {
  if (file_ != STDERR_FILENO) close(file_);
}

void AccessLog::add(const Access& access, const TraceContext& trace) noexcept {
  try {
    write_line(file_, line_of(access, trace));
  } catch (const std::exception& error) {
    if (lost_.fetch_add(1) == 0) write_log(LogLevel::kWarning, path_ + ": requests are not logged: " + error.what());
  }
}

void AccessLog::check() const {
  if (lost_ > 0) fail(ErrorCode::kIo, "can't write {}: {} requests are not logged", path_, lost_.load());
}

}  // namespace saccade::serve
