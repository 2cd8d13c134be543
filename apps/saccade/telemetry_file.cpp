#include "telemetry_file.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "base/record_file.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

/// For a line that is under way at the end, as Pipeline has for sinks.
constexpr std::chrono::seconds kPatience{5};

/// What ACT throws; empty: nothing.
template <typename Act>
std::string fault_of(const Act& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TelemetryFile::TelemetryFile(const Options& options)
    : name_(is_standard_output(options.path) ? "standard output" : options.path),
      retries_(options.retry),
      file_(std::make_unique<RecordFile>(options.path, options.rotation)),
      thread_([this] { write_all(); }) {}

TelemetryFile::~TelemetryFile() {
  {
    std::unique_lock lock(mutex_);
    const bool was_closed = ending_ != Ending::kNone;
    if (!was_closed) ending_ = Ending::kAbandon;
    wake_.notify_one();
    // close() has been patient.
    if (!done_.wait_for(lock, was_closed ? kPatience.zero() : kPatience, [this] { return is_done_; }))
      log(LogLevel::kWarning, "{} is not read: waiting until its last line is written", name_);
  }
  thread_.join();
}

bool TelemetryFile::is_ready() const {
  const std::scoped_lock lock(mutex_);
  return !line_;
}

void TelemetryFile::write(std::string line) {
  if (skipped_ > 0)
    log(LogLevel::kWarning, "{} is read again: {} lines of telemetry are missing", name_, std::exchange(skipped_, 0));
  {
    const std::scoped_lock lock(mutex_);
    line_ = std::move(line);
  }
  wake_.notify_one();
}

void TelemetryFile::skip() {
  if (skipped_++ == 0) log(LogLevel::kWarning, "{} is not read: no telemetry until it is", name_);
}

std::string TelemetryFile::close() {
  std::unique_lock lock(mutex_);
  ending_ = Ending::kComplete;
  wake_.notify_one();
  const bool is_complete = done_.wait_for(lock, kPatience, [this] { return is_done_; });
  if (fault_.empty() && !is_complete) fault_ = fmt::format("can't write {}: it is not read", name_);
  return fault_;
}

void TelemetryFile::write_all() {
  pthread_setname_np(pthread_self(), "saccade-lines");
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return line_ || ending_ != Ending::kNone; });
    if (!line_ || ending_ == Ending::kAbandon) break;
    const std::string line = *line_;  // it stays until it is written: not ready
    lock.unlock();
    if (file_) note(fault_of([&] { file_->append(line); }));
    lock.lock();
    line_.reset();
  }
  const bool completes = ending_ == Ending::kComplete;
  lock.unlock();
  if (completes && file_) complete();
  lock.lock();
  is_done_ = true;
  done_.notify_all();
}

void TelemetryFile::complete() {
  const std::string fault = fault_of([this] { file_->close(); });
  const std::scoped_lock lock(mutex_);
  if (fault_.empty()) fault_ = fault;
}

/// A line has been written, or has failed by FAULT.
void TelemetryFile::note(const std::string& fault) {
  if (fault.empty()) {
    if (std::exchange(is_failing_, false)) log(LogLevel::kWarning, "telemetry is written again");
    return;
  }
  if (!std::exchange(is_failing_, true))
    log(LogLevel::kWarning, "{}; {}", fault,
        retries_ ? "it is tried again every second" : "the run goes on without telemetry");
  if (!retries_) {
    file_.reset();
    has_ended_ = true;
  }
  const std::scoped_lock lock(mutex_);
  if (fault_.empty()) fault_ = fault;
}

}  // namespace saccade::app
