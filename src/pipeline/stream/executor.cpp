#include "pipeline/stream/executor.hpp"

#include <pthread.h>

namespace saccade {

Executor::Executor(ModelSet& models, BoundedQueue<Frame>& queue, FrameRunPool& runs, Clock::time_point deadline,
                   Hooks hooks, Trackers trackers)
    : models_(models),
      queue_(queue),
      runs_(runs),
      deadline_(deadline),
      hooks_(std::move(hooks)),
      trackers_(std::move(trackers)) {}

void Executor::request() {
  if (thread_.joinable() && !lockstep_) return;
  {
    const std::scoped_lock lock(mutex_);
    if (cancelled_ || is_owed_) return;
    is_owed_ = is_requested_ = true;
  }
  wake_.notify_one();
  if (!thread_.joinable()) thread_ = std::thread([this] { run_all(); });
}

void Executor::taken() {
  const std::scoped_lock lock(mutex_);
  is_owed_ = false;
}

void Executor::cancel() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  wake_.notify_one();
}

bool Executor::wait_until(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return !thread_.joinable() || ended_.wait_until(lock, deadline, [this] { return has_ended_; });
}

void Executor::join() {
  if (thread_.joinable()) thread_.join();
}

void Executor::check() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Executor::run_all() {
  pthread_setname_np(pthread_self(), "saccade-models");
  try {
    while ((current_ = ahead_ ? std::move(ahead_) : fetch())) {
      process(*current_);
      hooks_.complete(std::move(current_));
    }
  } catch (...) {
    failure_ = std::current_exception();
    hooks_.failed();
  }
  const std::scoped_lock lock(mutex_);
  has_ended_ = true;
  ended_.notify_all();
}

bool Executor::wait_for_request() {
  if (!lockstep_) return true;
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return cancelled_ || is_requested_; });
  if (cancelled_) return false;
  is_requested_ = false;
  return true;
}

/// Waits for the next frame: asleep until shortly before it is expected, then awake until shortly after that.
PopStatus Executor::pop(FrameRun& run) {
  constexpr std::chrono::microseconds kWakeUp(150);  // of most wake-ups, with a margin
  if (period_ > kWakeUp && Clock::now() < expected_ + kWakeUp) {
    const auto awake = expected_ - kWakeUp;
    const PopStatus status = queue_.pop(run.frame, run.lane, std::min(awake, deadline_));
    if (status != PopStatus::kTimeout) return status;
    while (Clock::now() < expected_ + kWakeUp) {
      if (queue_.try_pop(run.frame, run.lane)) return PopStatus::kItem;
      std::this_thread::yield();
    }
  }
  return queue_.pop(run.frame, run.lane, deadline_);
}

/// Waits for the next frame and begins its run; empty at the end.
FrameRunRef Executor::fetch() {
  if (!wait_for_request()) return {};
  FrameRunRef run = runs_.take();
  run->requested = Clock::now();
  while (true) {
    switch (pop(*run)) {
      case PopStatus::kItem: begin(*run); return run;
      case PopStatus::kLaneClosed: hooks_.lane_ended(run->lane); break;
      default: return {};
    }
  }
}

/// The same without waiting: empty if there is no frame.
FrameRunRef Executor::try_fetch() {
  FrameRunRef run = runs_.take();
  if (!queue_.try_pop(run->frame, run->lane)) return {};
  run->requested = Clock::now();
  begin(*run);
  return run;
}

void Executor::begin(FrameRun& run) {
  run.fetched = Clock::now();
  expected_ = run.frame.captured + period_;
  run.fault = models_.begin(run.frame);
}

void Executor::process(FrameRun& run) {
  if (auto fault = models_.wait()) run.fault = std::move(fault);
  // The device works on the newest frame while the host reads the results of this one.
  if (!run.fault && models_.overlaps() && !lockstep_ && Clock::now() < deadline_) ahead_ = try_fetch();
  read(run, run.fault ? run.fault->model : models_.size());
}

ResultTracker* Executor::tracker_of(const FrameRun& run, std::size_t model) const {
  return trackers_.empty() ? nullptr : trackers_[run.lane][model].get();
}

/// Fills the results of the first MODELS.
void Executor::read(FrameRun& run, std::size_t models) {
  auto last = run.fetched;
  for (std::size_t i = 0; i < models; ++i) {
    if (auto fault = models_.run(i, run.frame, tracker_of(run, i))) {
      run.fault = std::move(fault);
      return;
    }
    FrameRun::Output& output = run.outputs[i];
    const auto copying = Clock::now();
    if (prepared_ == i) runs_.prepare(prepared_++, models_[i].result());
    output.storage.copy(models_[i].result(), output.result);
    output.started = last;
    output.finished = last = Clock::now();
    output.result.latency.post += last - copying;
    run.done = i + 1;
  }
}

}  // namespace saccade
