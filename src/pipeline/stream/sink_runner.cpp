#include "pipeline/stream/sink_runner.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "pipeline/stream/stage_times.hpp"

namespace saccade {
namespace {

constexpr std::size_t kQueue = 4;

}  // namespace

std::size_t SinkRunner::capacity_of(const PipelineSink& sink) { return sink.queue == 0 ? kQueue : sink.queue; }

SinkRunner::SinkRunner(PipelineSink sink, bool waits, std::chrono::nanoseconds retry)
    : name_(std::move(sink.name)),
      sink_(std::move(sink.sink)),
      queue_({{.policy = waits ? DropPolicy::kWait : DropPolicy::kOldest, .capacity = capacity_of(sink)}}),
      retries_(sink.retry),
      stream_(sink.stream),
      retry_(retry) {
  if (sink_ == nullptr) fail(ErrorCode::kInvalidArgument, "the sink {} is null: give an object", name_);
  thread_ = std::thread([this] { write_all(); });
}

SinkRunner::~SinkRunner() {
  queue_.cancel();
  if (thread_.joinable()) thread_.join();
}

void SinkRunner::push(FrameRunRef run) {
  const std::optional<FrameRunRef> displaced = queue_.push(0, std::move(run));
  if (!displaced) return;
  const std::scoped_lock lock(mutex_);
  dropped_ += static_cast<std::int64_t>((*displaced)->done);
}

void SinkRunner::end() { queue_.close(0); }

bool SinkRunner::wait_until(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return drained_.wait_until(lock, deadline, [this] { return is_drained_; });
}

void SinkRunner::finish() {
  end();
  if (thread_.joinable()) thread_.join();
}

void SinkRunner::write_all() {
  pthread_setname_np(pthread_self(), "saccade-sink");
  FrameRunRef run;
  std::size_t lane = 0;
  while (queue_.pop(run, lane, Clock::time_point::max()) == PopStatus::kItem) {
    for (std::size_t i = 0; i < run->done; ++i) write(run->outputs[i].result, run->frame);
    run = FrameRunRef();  // its frame may be reused while this thread waits
  }
  const std::scoped_lock lock(mutex_);
  is_drained_ = true;
  drained_.notify_all();
}

void SinkRunner::write(const Result& result, const Frame& frame) {
  const auto start = Clock::now();
  if (has_ended_ || (failing_ && start < next_try_)) {
    skip();
    return;
  }
  try {
    sink_->write(result, sink_->reads_pixels() ? host_view(frame) : frame.view);
  } catch (const std::bad_alloc&) {
    fail_result(name_ + ": out of memory");
    return;
  } catch (const std::exception& error) {
    fail_result(error.what());
    return;
  } catch (...) {
    fail_result(name_ + ": an unknown exception");
    return;
  }
  succeed(Clock::now() - start);
}

/// Counts a result without trying it.
void SinkRunner::skip() noexcept {
  const std::scoped_lock lock(mutex_);
  ++failed_;
}

void SinkRunner::succeed(std::chrono::nanoseconds time) {
  if (failing_)
    log(LogLevel::kWarning, "{}: results are written again after {:.1f} s", name_,
        std::chrono::duration<double>(Clock::now() - failing_since_).count());
  const std::scoped_lock lock(mutex_);
  failing_ = false;
  ++written_;
  time_.add(time);
}

void SinkRunner::fail_result(std::string message) {
  next_try_ = Clock::now() + retry_;
  if (!failing_ && retries_) {
    failing_since_ = Clock::now();
    log(LogLevel::kWarning, "{}; it is tried again every {:.0f} s", message,
        std::chrono::duration<double>(retry_).count());
  }
  const std::scoped_lock lock(mutex_);
  failing_ = true;
  has_ended_ = !retries_;
  ++failed_;
  if (fault_.empty()) fault_ = std::move(message);
}

void SinkRunner::close(const Summary& summary) noexcept {
  if (std::exchange(is_closed_, true)) return;
  std::string fault;
  try {
    sink_->close(summary);
  } catch (const std::exception& error) {
    fault = error.what();
  } catch (...) {
    fault = name_ + ": an unknown exception";
  }
  const std::scoped_lock lock(mutex_);
  is_complete_ = true;
  if (fault_.empty()) fault_ = std::move(fault);
}

/// The results that are written, of which the sink has LOST some since, under the lock. While it runs the number is a
/// counter that never falls; at the end it is exact.
std::int64_t SinkRunner::shown_written(std::int64_t lost) const {
  const std::int64_t written = std::max<std::int64_t>(written_ - lost, 0);
  if (is_complete_) return written;
  return shown_written_ = std::max(shown_written_, written);
}

SinkTelemetry SinkRunner::telemetry() const {
  const std::scoped_lock lock(mutex_);
  const std::int64_t dropped = sink_->dropped();
  const std::int64_t failed = sink_->failed();
  return {.name = name_,
          .failing = failing_,
          .written = shown_written(dropped + failed),
          .dropped = dropped_ + dropped,
          .failed = failed_ + failed,
          .queued = queue_.size(0)};
}

SinkSummary SinkRunner::summary() const {
  const std::scoped_lock lock(mutex_);
  const std::int64_t dropped = sink_->dropped();
  const std::int64_t failed = sink_->failed();
  return {.name = name_,
          .failing = failing_,
          .has_ended = has_ended_,
          .written = shown_written(dropped + failed),
          .dropped = dropped_ + dropped,
          .failed = failed_ + failed,
          .fault = fault_,
          .time = distribution_of(time_)};
}

}  // namespace saccade
