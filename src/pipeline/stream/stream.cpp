#include "pipeline/stream/stream.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"

namespace saccade {

Stream::Stream(FrameReader& reader, BoundedQueue<Frame>& queue, const Place& place)
    : reader_(reader),
      queue_(queue),
      place_(place),
      held_buffers_(reader.held_buffers()),
      pool_(place.buffers + static_cast<std::size_t>(held_buffers_),
            place.memory != nullptr ? *place.memory : plain_frame_memory(), place.max_memory, place.memory_flag),
      selector_(place.selection),
      outages_(reader.info().live && !reader.is_paced() ? reader.info().frame_rate : 0),
      thread_([this] { read_all(); }) {}

Stream::~Stream() {
  cancel();
  join();
}

void Stream::cancel() noexcept {
  pool_.cancel();
  reader_.cancel();
}

void Stream::join() {
  if (thread_.joinable()) thread_.join();
}

void Stream::read_until_end() {
  while (place_.max_frames == 0 || ledger_.captured() < place_.max_frames)
    if (!read_one()) break;
  const Ledger ledger = ledger_.snapshot();
  if (fault_.empty() && ledger.corrupt > 0 && ledger.corrupt == ledger.captured) {
    fault_ = ledger.corrupt == 1 ? first_damage_
                                 : fmt::format("none of its {} frames can be read: {}", ledger.corrupt, first_damage_);
    is_held_ = false;
  }
  warn_of_first();
}

void Stream::read_all() noexcept {
  pthread_setname_np(pthread_self(), "saccade-read");
  // Timers are late by 50 us otherwise, which a frame that is due at a time would wait.
  prctl(PR_SET_TIMERSLACK, 1);
  try {
    read_until_end();
  } catch (const std::bad_alloc&) {
    fault_ = "out of memory for its frames";
  } catch (const std::exception& error) {
    fault_ = error.what();
  } catch (...) {
    fault_ = "its reader has thrown an unknown exception";
  }
  outages_.close(Clock::now());
  has_ended_ = true;
  queue_.close(place_.lane);
}

/// Limits the messages of a damaged source; the ledger keeps counting.
void Stream::warn(const std::string& message) {
  const HourlyWarnings::Verdict verdict = warnings_.at(Clock::now());
  if (verdict == HourlyWarnings::Verdict::kDrop) return;
  log(LogLevel::kWarning, "{}", message);
  if (verdict == HourlyWarnings::Verdict::kLast)
    log(LogLevel::kWarning, "{}: further corrupt frames of this hour are only counted", info().name);
}

/// Reports the damage of the first frame, if it was held back.
void Stream::warn_of_first() {
  if (std::exchange(is_held_, false)) warn(first_damage_);
}

StreamState Stream::state() const {
  if (has_ended()) return fault_.empty() ? StreamState::kEnded : StreamState::kLost;
  return outages_.is_out() ? StreamState::kConnecting : StreamState::kRunning;
}

/// A frame has arrived, whether it can be used or not.
void Stream::arrive() {
  outage_messages_.clear();
  if (const auto outage = outages_.end(Clock::now()))
    log(LogLevel::kWarning, "{}: frames arrive again after {:.1f} s", info().name,
        std::chrono::duration<double>(*outage).count());
}

/// No frame has arrived in time; MESSAGE says why if the source is away.
void Stream::miss(const std::string& message) {
  warn_of_first();
  if (message.empty()) return;
  outages_.begin();
  // What is wrong may change while the source is away.
  if (outage_messages_.is_new(message)) log(LogLevel::kWarning, "{}", message);
}

/// False if the source has ended.
bool Stream::read_one() {
  Outcome<Frame> frame = reader_.read(pool_);
  if (frame) {
    const bool goes_on = deliver(std::move(*frame));
    // Images have sizes of their own. A camera that was away, or whose driver's buffers are mapped, holds fewer than it
    // might have.
    if (info().files.empty())
      pool_.fill_up(static_cast<std::size_t>(std::max(held_buffers_ - reader_.held_buffers(), 0)));
    return goes_on;
  }
  const Failure& failure = frame.failure();
  switch (failure.status) {
    case Status::kCorrupt:
      arrive();
      ledger_.corrupt();
      if (ledger_.captured() > 1) {
        warn(failure.message);
      } else {
        first_damage_ = failure.message;
        is_held_ = true;
      }
      return true;
    case Status::kNoBuffer:
      arrive();
      ledger_.drop_no_buffer();
      return true;
    case Status::kBehind:
      arrive();
      ledger_.drop_decoder_behind();
      return true;
    case Status::kTimeout: miss(failure.message); return true;
    case Status::kLost: fault_ = failure.message; return false;
    default: return false;
  }
}

/// False if the queue was cancelled.
bool Stream::deliver(Frame frame) {
  warn_of_first();
  arrive();
  ledger_.capture(frame.sequence);
  if (!selector_.takes(frame.timestamp_ns)) {
    ledger_.skip();
    return true;
  }
  if (!queue_.push(place_.lane, std::move(frame))) return true;
  if (queue_.is_cancelled()) {
    ledger_.drop_stopped();
    return false;
  }
  ledger_.drop_queue_full();
  return true;
}

}  // namespace saccade
