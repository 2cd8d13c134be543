#include "pipeline/stream/executor.hpp"

#include <pthread.h>

namespace saccade {

Executor::Executor(ModelSet& models, FrameBatcher& frames, FrameRunPool& runs, Clock::time_point deadline, Hooks hooks,
                   Trackers trackers)
    : models_(models),
      frames_(frames),
      runs_(runs),
      deadline_(deadline),
      hooks_(std::move(hooks)),
      trackers_(std::move(trackers)) {
  for (FrameBatch* batch : {&current_, &ahead_}) {
    batch->runs.reserve(models.batch());
    batch->ended.reserve(frames.lanes());
  }
  inputs_.reserve(models.batch());
}

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
    while (true) {
      std::swap(current_, ahead_);
      if (current_.runs.empty()) end_lanes(current_);
      const bool is_begun = std::exchange(is_ahead_begun_, false);
      if (!is_begun && !fetch(current_)) break;
      if (!is_begun) begin(current_);
      process(current_);
      end_lanes(current_);
    }
    end_lanes(current_);
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

/// Waits for the next frames; false at the end.
bool Executor::fetch(FrameBatch& batch) {
  if (batch.runs.empty() && !wait_for_request()) return false;
  while (frames_.fill(batch)) {
    if (!batch.runs.empty()) return true;
    end_lanes(batch);
  }
  return false;
}

/// After the results of their last frames.
void Executor::end_lanes(FrameBatch& batch) {
  for (const std::size_t lane : batch.ended) hooks_.lane_ended(lane);
  batch.ended.clear();
}

void Executor::begin(FrameBatch& batch) {
  inputs_.clear();
  for (const FrameRunRef& run : batch.runs) {
    run->fetched = Clock::now();
    run->batch = batch.runs.size();
    inputs_.push_back(&run->frame);
  }
  batch.fault = models_.begin(inputs_);
}

void Executor::process(FrameBatch& batch) {
  if (auto fault = models_.wait()) batch.fault = std::move(fault);
  // The device works on the newest frames while the host reads the results of these.
  if (!batch.fault && models_.overlaps() && !lockstep_ && Clock::now() < deadline_ && frames_.try_fill(ahead_)) {
    begin(ahead_);
    is_ahead_begun_ = true;
  }
  std::optional<ModelSet::Fault> fault;
  if (batch.runs.size() == 1)
    fault = std::exchange(batch.fault, std::nullopt);
  else if (batch.fault)
    models_.discard();  // each frame runs alone, to learn which one it is
  const std::size_t models = fault ? fault->model : models_.size();
  for (std::size_t i = 0; i < models; ++i) run_model(batch, i);
  for (FrameRunRef& run : batch.runs) {
    if (!run) continue;
    if (fault) run->fault = std::move(fault);
    hooks_.complete(std::move(run));
  }
  batch.runs.clear();
  batch.fault.reset();
}

/// Fills the results of MODEL. With those of the last one, runs are passed on.
void Executor::run_model(FrameBatch& batch, std::size_t model) {
  inputs_.clear();
  for (const FrameRunRef& run : batch.runs) inputs_.push_back(&run->frame);
  const bool is_last = model + 1 == models_.size();
  const auto fault = batch.fault ? batch.fault : models_.run(model, inputs_);
  for (std::size_t i = 0; i < batch.runs.size(); ++i) {
    FrameRun& run = *batch.runs[i];
    if (fault && !run.fault) run.fault = batch.runs.size() == 1 ? fault : models_.run(model, {&inputs_[i], 1});
    if (!run.fault) read_one(run, model, fault ? 0 : i);
    if (is_last) hooks_.complete(std::move(batch.runs[i]));
  }
}

void Executor::read_one(FrameRun& run, std::size_t model, std::size_t place) {
  if (auto fault = models_.read(model, place, run.frame, tracker_of(run, model))) {
    run.fault = std::move(fault);
    return;
  }
  FrameRun::Output& output = run.outputs[model];
  const auto copying = Clock::now();
  if (prepared_ == model) runs_.prepare(prepared_++, models_[model].result());
  output.storage.copy(models_[model].result(), output.result);
  output.started = model == 0 ? run.fetched : run.outputs[model - 1].finished;
  output.finished = Clock::now();
  output.result.latency.post += output.finished - copying;
  run.done = model + 1;
}

ResultTracker* Executor::tracker_of(const FrameRun& run, std::size_t model) const {
  return trackers_.empty() ? nullptr : trackers_[run.lane][model].get();
}

}  // namespace saccade
