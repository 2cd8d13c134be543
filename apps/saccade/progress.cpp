#include "progress.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "report.hpp"

namespace saccade::app {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(250);

double milliseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

/// -1 if the environment names none.
int status_pipe() {
  const char* text = std::getenv("SACCADE_STATUS_FD");
  if (text == nullptr) return -1;
  const std::string_view name(text);
  int file = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), file);
  struct stat status {};
  if (error != std::errc() || end != name.data() + name.size() || fstat(file, &status) != 0 ||
      !S_ISFIFO(status.st_mode))
    return -1;
  // Processes of this one would keep the pipe open.
  (void)fcntl(file, F_SETFD, FD_CLOEXEC);
  return file;
}

}  // namespace

std::string bar(double share) {
  constexpr std::size_t kWidth = 30;
  const double part = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * kWidth);
  std::string text = std::string(full, '=') + (full < kWidth ? ">" : "");
  text.resize(kWidth, ' ');
  return fmt::format("[{}] {:3.0f} %", text, 100 * part);
}

std::string share_text(std::string_view what, double share, std::chrono::nanoseconds elapsed) {
  constexpr double kEnoughSeconds = 1;
  constexpr double kEnoughShare = 0.02;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  std::string text = fmt::format("{} {}", what, bar(share));
  if (seconds >= kEnoughSeconds && share >= kEnoughShare && share < 1)
    text += fmt::format(", {:.0f} s left", std::ceil(seconds * (1 - share) / share));
  return text;
}

StatusLine::StatusLine()
    : next_(std::chrono::steady_clock::now() + kPeriod),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      pipe_(status_pipe()) {}

bool StatusLine::is_due() const { return is_terminal_ && std::chrono::steady_clock::now() >= next_; }

void StatusLine::say(std::string_view text) {
  if (!is_due()) return;
  next_ = std::chrono::steady_clock::now() + kPeriod;
  text_ = printable(text);
  draw();
}

void StatusLine::draw() {
  print_aside("\r\033[K" + text_);
  drawn_ = true;
}

void StatusLine::say(std::string_view work, std::string_view step, double share) {
  write_share(step, share);
  if (work != work_) {
    work_ = work;
    start_ = std::chrono::steady_clock::now();
  }
  if (is_due()) say(share_text(step, share, std::chrono::steady_clock::now() - start_));
}

void StatusLine::write_share(std::string_view step, double share) {
  const auto now = std::chrono::steady_clock::now();
  if (pipe_ < 0 || now < next_share_) return;
  next_share_ = now + kPeriod;
  const std::string line = fmt::format("{:.4f} {}\n", std::clamp(share, 0.0, 1.0), printable(step));
  if (::write(pipe_, line.data(), line.size()) < 0) pipe_ = -1;  // its reader has ended
}

void StatusLine::finish() {
  if (drawn_) print_aside("\r\033[K");
  drawn_ = false;
}

void Progress::update(const Pipeline& pipeline) {
  if (!line_.is_due()) return;  // a summary costs more than reading the clock
  const Summary summary = pipeline.summary();
  const Distribution& total = summary.stages.back().time;
  line_.say(fmt::format("{} frames  {:.1f} frames/s  p50 {:.1f} ms  p99 {:.1f} ms  {} dropped",
                        summary.ledger.processed, summary.frames_per_second, milliseconds(total.p50),
                        milliseconds(total.p99), summary.ledger.dropped()));
}

}  // namespace saccade::app
