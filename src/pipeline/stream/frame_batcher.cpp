#include "pipeline/stream/frame_batcher.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace saccade {

FrameBatcher::FrameBatcher(BoundedQueue<Frame>& queue, FrameRunPool& runs, std::vector<Lane> lanes,
                           const Options& options)
    : queue_(queue), runs_(runs), lanes_(std::move(lanes)), options_(options), due_(lanes_.size()) {}

bool FrameBatcher::fill(FrameBatch& batch) {
  while (!is_full(batch)) {
    const auto until = batch.runs.empty() ? options_.deadline : latest_start(batch);
    const bool waits = batch.runs.empty() || is_any_due(until);
    switch (add(batch, waits ? until : Clock::now())) {
      case PopStatus::kItem: break;
      case PopStatus::kLaneClosed:
        if (batch.runs.empty()) return true;  // its end has to be passed on
        break;
      default: return !batch.runs.empty();
    }
  }
  return true;
}

bool FrameBatcher::try_fill(FrameBatch& batch) {
  while (!is_full(batch))
    if (const PopStatus status = add(batch, Clock::now());
        status != PopStatus::kItem && status != PopStatus::kLaneClosed)
      break;
  if (batch.runs.empty()) return false;
  if (is_full(batch)) return true;
  const auto until = latest_start(batch);
  return Clock::now() >= until || !is_any_due(until);
}

/// Waits for the next frame until UNTIL and adds it.
PopStatus FrameBatcher::add(FrameBatch& batch, Clock::time_point until) {
  FrameRunRef run = runs_.take();
  run->requested = Clock::now();
  const bool is_first = batch.runs.empty() && until == options_.deadline;
  std::size_t at = 0;
  const PopStatus status = is_first ? pop_first(run->frame, at) : queue_.pop(run->frame, at, until);
  if (status == PopStatus::kLaneClosed) {
    lanes_[at].has_ended = true;
    batch.ended.push_back(lanes_[at].stream);
  }
  if (status == PopStatus::kItem) {
    due_[at] = next_due(at, run->frame.captured);
    // Frames of files are read ahead: they wait from now on.
    run->waits_since = lanes_[at].is_live ? run->frame.captured : run->requested;
    run->lane = lanes_[at].stream;
    batch.runs.push_back(std::move(run));
  }
  return status;
}

/// A frame can be late by chance, and not early: the earliest ones set the time of the next, the others shift it
/// little.
Clock::time_point FrameBatcher::next_due(std::size_t lane, Clock::time_point captured) const {
  constexpr int kSlowness = 16;
  const auto period = lanes_[lane].period;
  const auto late = captured - due_[lane];
  const bool is_on_time = late >= Clock::duration::zero() && late < period;
  return (is_on_time ? due_[lane] + late / kSlowness : captured) + period;
}

/// Asleep until shortly before the frame is expected, then awake until some time after that.
PopStatus FrameBatcher::pop_first(Frame& frame, std::size_t& lane) {
  constexpr std::chrono::microseconds kWakeUp(500);  // of all but the rarest wake-ups on a shared host
  constexpr std::chrono::microseconds kLate(600);    // of most frames, whose threads wake up, too
  const auto expected = due_[0];
  if (stays_awake_ && lanes_[0].period > kWakeUp + kLate && Clock::now() < expected + kLate) {
    const auto awake = expected - kWakeUp;
    const PopStatus status = queue_.pop(frame, lane, std::min(awake, options_.deadline));
    if (status != PopStatus::kTimeout) return status;
    while (Clock::now() < expected + kLate) {
      if (queue_.try_pop(frame, lane)) return PopStatus::kItem;
      std::this_thread::yield();
    }
  }
  return queue_.pop(frame, lane, options_.deadline);
}

/// When the oldest frame has waited for long enough.
Clock::time_point FrameBatcher::latest_start(const FrameBatch& batch) const {
  auto latest = Clock::time_point::max();
  for (const FrameRunRef& run : batch.runs) latest = std::min(latest, run->waits_since + options_.wait);
  return std::min(latest, options_.deadline);
}

/// Whether a frame can come until UNTIL, as far as the rates of the lanes say.
bool FrameBatcher::is_any_due(Clock::time_point until) const {
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (!lanes_[i].has_ended && (lanes_[i].period.count() == 0 || due_[i] <= until)) return true;
  return false;
}

}  // namespace saccade
