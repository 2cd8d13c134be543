#include "measure/profile/recorder.hpp"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::size_t kColumns = 150;

void add_to(Latency& sum, const Latency& latency) {
  sum.capture += latency.capture;
  sum.queue += latency.queue;
  sum.pre += latency.pre;
  sum.model += latency.model;
  sum.post += latency.post;
  sum.total += latency.total;
}

}  // namespace

TimelineRecorder::TimelineRecorder(std::size_t columns) : columns_(2 * columns) {}

void TimelineRecorder::add(const FrameRecord& record) noexcept {
  if (used_ == 0) begin_ = record.times.started;
  if (used_ == 0 || columns_[used_ - 1].frames == frames_a_column_) {
    if (used_ == columns_.size()) merge_pairs();
    columns_[used_++] = {.start = record.times.started};
  }
  ++columns_[used_ - 1].frames;
  add_to(columns_[used_ - 1].sum, record.latency);
}

void TimelineRecorder::merge_pairs() noexcept {
  for (std::size_t i = 0; i < used_ / 2; ++i) {
    Column merged = columns_[2 * i];
    merged.frames += columns_[2 * i + 1].frames;
    add_to(merged.sum, columns_[2 * i + 1].sum);
    columns_[i] = merged;
  }
  used_ /= 2;
  frames_a_column_ *= 2;
}

std::vector<TimelineColumn> TimelineRecorder::columns() const {
  std::vector<TimelineColumn> columns;
  for (const Column& column : std::span(columns_).first(used_)) {
    const auto mean = [&](std::chrono::nanoseconds sum) {
      return Nanoseconds(sum) / static_cast<double>(column.frames);
    };
    columns.push_back({std::chrono::duration<double>(column.start - begin_).count(),
                       {mean(column.sum.capture), mean(column.sum.queue), mean(column.sum.pre), mean(column.sum.model),
                        mean(column.sum.post)}});
  }
  return columns;
}

Recorder::Recorder(const Plan& plan, std::size_t trace_frames)
    : steps_(plan.steps().size()),
      trace_frames_(trace_frames),
      batch_steps_(kBatch * steps_),
      launches_(steps_),
      gap_sums_(steps_),
      timeline_(kColumns) {
  batch_.reserve(kBatch);
  for (std::size_t i = 0; i < steps_; ++i)
    if (plan.steps()[i].launch) launch_steps_.push_back(i);
  trace_.frames.reserve(trace_frames);
  trace_.steps.reserve(trace_frames * steps_);
}

void Recorder::add(const FrameRecord& record) {
  batch_.push_back(record);
  if (batch_.size() == kBatch) flush();
}

void Recorder::flush() {
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const auto times = std::span<const StepTime>(batch_steps_).subspan(i * steps_, steps_);
    fold(batch_[i], times);
    if (trace_.frames.size() < trace_frames_) {
      trace_.frames.push_back(batch_[i]);
      trace_.steps.insert(trace_.steps.end(), times.begin(), times.end());
    } else {
      ++trace_.left_out;
    }
  }
  for (const std::size_t step : launch_steps_)
    for (std::size_t i = 0; i < batch_.size(); ++i) launches_[step].add(batch_steps_[i * steps_ + step].duration());
  batch_.clear();
}

void Recorder::fold(const FrameRecord& record, std::span<const StepTime> times) {
  std::chrono::nanoseconds idle{};
  for (std::size_t i = 0; i + 1 < launch_steps_.size(); ++i) {
    const auto gap = times[launch_steps_[i + 1]].start - times[launch_steps_[i]].end;
    gap_sums_[launch_steps_[i]] += gap;
    idle += gap;
  }
  stages_.add(record.latency);
  frame_.add(record.times.finished - record.times.started);
  gaps_.add(idle);
  waiting_.add(record.times.fetched - record.times.requested);
  if (last_finished_ != Clock::time_point()) outside_.add(record.times.requested - last_finished_);
  last_finished_ = record.times.finished;
  timeline_.add(record);
}

std::chrono::nanoseconds Recorder::gap_after(std::size_t step) const {
  return frame_.count() == 0 ? std::chrono::nanoseconds() : gap_sums_[step] / frame_.count();
}

}  // namespace saccade
