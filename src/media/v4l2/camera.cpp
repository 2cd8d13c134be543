#include "media/v4l2/camera.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/log.hpp"
#include "base/module.hpp"
#include "media/modules.hpp"
#include "media/v4l2/find_again.hpp"
#include "media/v4l2/frame_stamps.hpp"
#include "media/v4l2/session.hpp"

namespace saccade::v4l2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// The bounds of recovery. A camera may halve its rate in the dark, and takes a while for its first frame.
constexpr int kStalledPeriods = 10;
constexpr nanoseconds kShortestStall = seconds(1);
constexpr nanoseconds kFirstFrame = seconds(5);
/// Between two attempts to start a stream, or to find a camera.
constexpr nanoseconds kRetry = milliseconds(250);
/// Starts of a stream without a frame before the device is opened again.
constexpr int kMostStarts = 3;

class CameraReader final : public FrameReader {
 public:
  CameraReader(const std::string& uri, const ModelSize& model, std::shared_ptr<SystemCalls> calls)
      : calls_(std::move(calls)), options_(parse_camera(uri)), model_(model) {
    open(options_.path);
    identity_ = session_->device().identity();
    identity_.has_twin = has_twin(calls_, identity_);
    const Mode& mode = session_->format().mode;
    info_ = {.name = uri, .live = true, .frame_rate = mode.interval.rate(), .width = mode.width, .height = mode.height};
    name_ = fmt::format("{} ({})", uri, identity_.card);
    log(LogLevel::kInfo, "{}: {}", name_, to_string(mode));
  }

  const SourceInfo& info() const override { return info_; }
  SourceFaults faults() const override {
    return {.unplugged = unplugged_,
            .restarts = restarts_,
            .format_changes = format_changes_,
            .refused_buffers = refused_buffers_,
            .replaced_timestamps = replaced_timestamps_};
  }
  int held_buffers() const override {
    // One that is opened again may have other buffers.
    const bool may_hold = session_ ? session_->may_hold_pipelines() : options_.io != CameraIo::kMmap;
    return may_hold ? options_.buffers : 0;
  }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    const std::scoped_lock lock(reading_);
    while (!cancelled_) {
      if (auto outcome = take_held()) return std::move(*outcome);
      if (auto failure = resume(allocator)) return std::move(*failure);
      if (auto outcome = next(allocator)) return std::move(*outcome);
    }
    // The driver has counted these, and so must the ledger.
    if (auto outcome = take_held()) return std::move(*outcome);
    return cancelled();
  }

  void cancel() noexcept override {
    cancelled_ = true;
    calls_->interrupt();
    // What the driver and we hold is the allocator's, which may be destroyed next.
    const std::scoped_lock lock(reading_);
    held_.reset();
    if (session_) session_->stop();
  }

 private:
  enum class State { kStreaming, kStopped, kAway };

  Failure cancelled() const { return {Status::kCancelled, info_.name + ": reading was cancelled"}; }

  void open(const std::string& path) {
    session_ = std::make_unique<Session>(calls_, path, options_, model_);
    if (session_->format().mode.format->is_compressed() && decoder_ == nullptr)
      decoder_ = module<ImagesModule>("images").make_plane_decoder();
    const double rate = session_->format().mode.interval.rate();
    constexpr double kUnknownRate = 15;
    period_ =
        std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(1 / (rate > 0 ? rate : kUnknownRate)));
    state_ = State::kStopped;
  }

  /// Frames that had no buffer come before the one that shows that they are missing.
  std::optional<Outcome<Frame>> take_held() {
    if (without_buffer_ > 0) {
      --without_buffer_;
      return Failure{Status::kNoBuffer, {}};
    }
    if (!held_) return std::nullopt;
    Frame frame = std::move(*held_);
    held_.reset();
    return frame;
  }

  /// Makes the camera stream if it does not. A failure if it can't yet.
  std::optional<Failure> resume(FrameAllocator& allocator) {
    if (state_ == State::kStreaming) return std::nullopt;
    const nanoseconds pause = retry_at_ - calls_->now();
    if (pause.count() > 0 && calls_->wait(-1, pause).is_interrupted) return cancelled();
    if (cancelled_) return cancelled();
    if (state_ == State::kAway)
      if (auto failure = reopen()) return failure;
    return start(allocator);
  }

  std::optional<Failure> start(FrameAllocator& allocator) {
    const int error = session_->start(allocator);
    if (error != 0) {
      session_->stop();
      if (error == -ENODEV) return lose(unplugged_, "was unplugged; waiting until it is back");
      if (!is_waited_for_) return Failure{Status::kLost, start_message(error)};
      retry_at_ = calls_->now() + kRetry;
      reason_ = fmt::format("can't stream: {}; trying again", error_text(error));
      if (++starts_ > kMostStarts) leave();
      return timed_out(reason_);
    }
    is_waited_for_ = true;
    state_ = State::kStreaming;
    last_frame_ = calls_->now();
    is_first_ = true;
    sequence_.restart();
    clock_.restart();
    session_->buffers().ran_dry();
    return std::nullopt;
  }

  std::string start_message(int error) const {
    try {
      session_->device().refused("it can't stream", error);
    } catch (const Error& refusal) {
      return refusal.what();
    }
  }

  /// Looks for the camera once.
  std::optional<Failure> reopen() {
    retry_at_ = calls_->now() + kRetry;
    const std::optional<std::string> path = find_again(calls_, options_.path, identity_);
    if (!path) return timed_out(reason_);
    try {
      open(*path);
    } catch (const Error& error) {
      session_.reset();
      return timed_out(fmt::format("is back, but can't be used: {}", error.what()));
    }
    identity_.bus = session_->device().identity().bus;
    log(LogLevel::kInfo, "{}: opened again as {} with {}", name_, *path, to_string(session_->format().mode));
    return std::nullopt;
  }

  Failure timed_out(const std::string& what) const { return {Status::kTimeout, fmt::format("{}: {}", name_, what)}; }

  /// Closes the device.
  void leave() {
    session_.reset();
    starts_ = 0;
    state_ = State::kAway;
  }

  Failure lose(std::atomic<std::int64_t>& count, const std::string& reason) {
    ++count;
    is_waited_for_ = true;
    leave();
    // It can't be connected elsewhere yet: what has its serial number now is another one.
    identity_.has_twin = identity_.has_twin || has_twin(calls_, identity_);
    reason_ = reason;
    retry_at_ = calls_->now();
    return timed_out(reason_);
  }

  /// The stream has failed, but the device is there: starts it again, at once the first time.
  Failure restart(const std::string& reason) {
    ++restarts_;
    session_->stop();
    state_ = State::kStopped;
    retry_at_ = calls_->now() + (starts_ == 0 ? nanoseconds() : kRetry);
    reason_ = reason;
    if (++starts_ > kMostStarts) leave();
    return timed_out(fmt::format("{}; its stream is started again", reason));
  }

  /// The next frame, a failure, or nothing yet.
  std::optional<Outcome<Frame>> next(FrameAllocator& allocator) {
    CaptureBuffers& buffers = session_->buffers();
    const int refusal = buffers.queue(allocator);
    if (refusal == -ENODEV) return lose(unplugged_, "was unplugged; waiting until it is back");
    note_refusals(buffers);
    if (buffers.queued() == 0) return wait_for_buffer(refusal);
    // A buffer that the pipeline gives back to its pool does not end the wait.
    nanoseconds timeout = last_frame_ + stall_limit() - calls_->now();
    if (buffers.has_free()) timeout = std::min(timeout, period_);
    const Readiness ready = calls_->wait(session_->device().descriptor(), timeout);
    if (ready.is_interrupted) return cancelled();
    if (ready.has_event && session_->has_new_format())
      return lose(format_changes_, "its signal has another format; it is opened again");
    if (ready.has_frame) return dequeue(allocator);
    if (ready.has_event) pause();
    return check_stall();
  }

  /// Nothing has come of a device that was ready: it must not keep a processor busy.
  void pause() { calls_->wait(-1, milliseconds(1)); }

  std::optional<Outcome<Frame>> check_stall() {
    if (calls_->now() < last_frame_ + stall_limit()) return std::nullopt;
    return restart(fmt::format("no frame for {:.1f} s", std::chrono::duration<double>(stall_limit()).count()));
  }

  nanoseconds stall_limit() const {
    if (is_first_) return kFirstFrame;
    return std::max<nanoseconds>(kShortestStall, kStalledPeriods * period_);
  }

  /// All buffers are lent. That is no fault of the camera, unless it refuses those that it could have.
  std::optional<Outcome<Frame>> wait_for_buffer(int refusal) {
    if (calls_->wait(-1, period_).is_interrupted) return cancelled();
    const auto now = calls_->now();
    if (refusal == 0) last_frame_ = now;
    if (now < last_frame_ + stall_limit()) return std::nullopt;
    return restart(fmt::format("its driver refuses all buffers: {}", error_text(refusal)));
  }

  void note_refusals(CaptureBuffers& buffers) {
    const std::int64_t refusals = buffers.take_refusals();
    if (refusals == 0) return;
    if (refused_buffers_ == 0)
      log(LogLevel::kWarning, "{}: its driver has refused a buffer; it is offered again", name_);
    refused_buffers_ += refusals;
  }

  std::optional<Outcome<Frame>> dequeue(FrameAllocator& allocator) {
    FilledBuffer filled;
    const int error = session_->dequeue(filled);
    if (error == 0) return deliver(filled, allocator);
    if (error == -EAGAIN) {
      pause();
      return check_stall();
    }
    if (error == -ENODEV) return lose(unplugged_, "was unplugged; waiting until it is back");
    return restart(fmt::format("its driver reports '{}'", error_text(error)));
  }

  Outcome<Frame> deliver(const FilledBuffer& filled, FrameAllocator& allocator) {
    const auto arrival = calls_->now();
    CaptureBuffers& buffers = session_->buffers();
    const bool ran_dry = buffers.ran_dry();
    const std::int64_t sequence = sequence_.next(filled.sequence);
    const std::int64_t missing = sequence - std::exchange(last_sequence_, sequence) - 1;
    last_frame_ = arrival;
    is_first_ = false;
    starts_ = 0;
    if (ran_dry) unlent_ += missing;
    const FrameStamp stamp = stamp_of(filled, arrival);
    FrameLease lease = buffers.take_filled(filled.index);
    if (auto failure = damage_of(filled, lease)) return std::move(*failure);
    Outcome<Frame> outcome = is_compressed()      ? decode(filled, lease, allocator)
                             : is_scarce(buffers) ? copy(lease, allocator)
                                                  : lend(std::move(lease));
    if (!outcome) return outcome;
    outcome->sequence = sequence;
    outcome->timestamp_ns = stamp.timestamp_ns;
    outcome->exposed = stamp.exposed;
    outcome->captured = calls_->now();
    outcome->capture_time = outcome->captured - arrival;
    return after_missing(std::move(outcome));
  }

  FrameStamp stamp_of(const FilledBuffer& filled, Clock::time_point arrival) {
    const FrameStamp stamp = clock_.check(filled.stamp_ns, filled.is_monotonic, arrival);
    if (stamp.is_replaced && replaced_timestamps_++ == 0)
      log(LogLevel::kWarning,
          "{}: its clock is wrong: a frame's time lies after its arrival or before the last frame's. Such times are "
          "replaced by that of the arrival",
          name_);
    return stamp;
  }

  bool is_compressed() const { return session_->format().mode.format->is_compressed(); }

  std::optional<Failure> damage_of(const FilledBuffer& filled, const FrameLease& lease) const {
    if (!lease) return corrupt("its driver returned a buffer that it does not have");
    if (filled.is_corrupt) return corrupt("a frame is damaged, says its driver");
    const std::size_t least = session_->format().frame_bytes;
    if (filled.bytes < least || filled.bytes > lease.buffer().capacity)
      return corrupt(fmt::format("a frame has {} bytes instead of {}", filled.bytes, least));
    return std::nullopt;
  }

  Failure corrupt(const std::string& what) const { return {Status::kCorrupt, fmt::format("{}: {}", name_, what)}; }

  Outcome<Frame> lend(FrameLease lease) const {
    Frame frame;
    frame.view = view_of(session_->format(), lease.buffer().data, lease.buffer().memory);
    frame.lease = std::move(lease);
    return frame;
  }

  /// Whether the driver needs the buffer back at once: a pipeline may hold frames for as long as a sink takes.
  static bool is_scarce(const CaptureBuffers& buffers) {
    return buffers.memory_type() == V4L2_MEMORY_MMAP && buffers.queued() < kFewestBuffers;
  }

  Outcome<Frame> copy(const FrameLease& lease, FrameAllocator& allocator) const {
    const std::size_t bytes = session_->format().frame_bytes;
    Frame frame;
    frame.lease = allocator.try_acquire(bytes);
    if (!frame.lease) return Failure{Status::kNoBuffer, {}};
    std::memcpy(frame.lease.buffer().data, lease.buffer().data, bytes);
    frame.view = view_of(session_->format(), frame.lease.buffer().data, frame.lease.buffer().memory);
    return frame;
  }

  Outcome<Frame> decode(const FilledBuffer& filled, const FrameLease& lease, FrameAllocator& allocator) {
    const std::span jpeg(reinterpret_cast<const std::uint8_t*>(lease.buffer().data), filled.bytes);
    JpegPlanes planes;
    if (!decoder_->begin(jpeg, planes)) return corrupt(decoder_->error());
    const Mode& mode = session_->format().mode;
    if (planes.width != mode.width || planes.height != mode.height)
      return corrupt(fmt::format("a frame has {}x{} pixels instead of {}x{}", planes.width, planes.height, mode.width,
                                 mode.height));
    Frame frame;
    frame.lease = allocator.try_acquire(frame_bytes(planes.format, planes.width, planes.height));
    if (!frame.lease) return Failure{Status::kNoBuffer, {}};
    frame.view = lay_out(frame.lease.buffer(), planes.format, planes.width, planes.height);
    // JFIF's colours.
    frame.view.matrix = ColorMatrix::kBt601;
    frame.view.range = ColorRange::kFull;
    if (!decoder_->decode(frame.view)) return corrupt(decoder_->error());
    return frame;
  }

  /// FRAME, or first the failures of those that the driver had no buffer for.
  Outcome<Frame> after_missing(Outcome<Frame> frame) {
    // A driver may count nonsense.
    constexpr std::int64_t kMost = 100'000;
    without_buffer_ = std::min(std::exchange(unlent_, 0), kMost);
    if (without_buffer_ == 0) return frame;
    held_ = std::move(*frame);
    --without_buffer_;
    return Failure{Status::kNoBuffer, {}};
  }

  std::shared_ptr<SystemCalls> calls_;
  CameraOptions options_;
  ModelSize model_;
  SourceInfo info_;
  std::string name_;  ///< with the camera's own
  DeviceIdentity identity_;
  std::unique_ptr<JpegPlaneDecoder> decoder_;
  std::unique_ptr<Session> session_;  ///< null while the camera is away
  std::atomic<bool> cancelled_ = false;
  std::mutex reading_;  ///< held during read(); a cancelled one returns at once

  State state_ = State::kStopped;
  Clock::time_point retry_at_;
  std::string reason_;  ///< why it is away
  int starts_ = 0;      ///< of a stream without a frame
  /// From its first start on, or from when it was unplugged. A first start that is refused ends the source: its mode is
  /// not possible, or the camera is another program's.
  bool is_waited_for_ = false;

  nanoseconds period_{};
  Clock::time_point last_frame_;
  bool is_first_ = true;  ///< no frame since the start of the stream
  SequenceCounter sequence_;
  SensorClock clock_;
  std::int64_t last_sequence_ = -1;
  std::int64_t unlent_ = 0;          ///< frames that the driver had no buffer for, not yet reported
  std::int64_t without_buffer_ = 0;  ///< of them, those that are reported now
  std::optional<Frame> held_;        ///< the frame after them

  std::atomic<std::int64_t> unplugged_ = 0;
  std::atomic<std::int64_t> restarts_ = 0;
  std::atomic<std::int64_t> format_changes_ = 0;
  std::atomic<std::int64_t> refused_buffers_ = 0;
  std::atomic<std::int64_t> replaced_timestamps_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_camera(const std::string& uri, const ModelSize& model,
                                         std::shared_ptr<SystemCalls> calls) {
  note_input(parse_camera(uri).path);
  return std::make_unique<CameraReader>(uri, model, std::move(calls));
}

}  // namespace saccade::v4l2
