#include "report.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <saccade/error.hpp>
#include <saccade/printable.hpp>

namespace saccade::app {
namespace {

void write_all(const std::string& text, Channel channel) {
  std::FILE* stream = channel == Channel::kOutput ? stdout : stderr;
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0) return;
  throw Error(ErrorCode::kIo, fmt::format("can't write standard {}: {}",
                                          channel == Channel::kOutput ? "output" : "error", std::strerror(errno)));
}

template <typename Json>
void print_dump(const Json& json) {
  write_all(printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n", Channel::kOutput);
}

}  // namespace

void print_report(std::string_view text, Channel channel) { write_all(printable_lines(text), channel); }

void print_trusted(const std::string& text) { write_all(text, Channel::kOutput); }

void print_json(const nlohmann::json& json) { print_dump(json); }
void print_json(const nlohmann::ordered_json& json) { print_dump(json); }
void print_json(const std::string& json) { print_report(json + "\n"); }

bool is_standard_output(const std::string& path) {
  if (path == "-") return true;
  struct stat file {};
  struct stat output {};
  if (path.empty() || stat(path.c_str(), &file) != 0 || fstat(STDOUT_FILENO, &output) != 0) return false;
  const bool is_null = S_ISCHR(file.st_mode) && major(file.st_rdev) == 1 && minor(file.st_rdev) == 3;
  return !is_null && file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

void print_aside(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void keep_standard_streams() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // The lowest free descriptor is the stream's; writes to a read-only descriptor fail.
    if (fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
      const int taken = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace saccade::app
