#include "ffmpeg/receiver.hpp"

#include <pthread.h>

#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade {
namespace {

constexpr AVRational kNanosecond = {1, 1'000'000'000};
/// A rate above it is a unit of timestamps that FFmpeg takes for a rate.
constexpr double kHighestRate = 480;

std::optional<std::chrono::nanoseconds> time_of(std::int64_t timestamp, AVRational unit) {
  if (timestamp == AV_NOPTS_VALUE) return std::nullopt;
  return std::chrono::nanoseconds(av_rescale_q(timestamp, unit, kNanosecond));
}

}  // namespace

Receiver::Receiver(network::StreamUri stream, bool wait)
    : stream_(std::move(stream)), schedule_(std::random_device()()) {
  info_.name = stream_.name;
  info_.live = true;
  schedule_.attempt(Clock::now());
  try {
    open(Inspection::kWhole, network::RetrySchedule::all(stream_.timeout));
    first_format_ = format_;
    describe();
  } catch (const Error& error) {
    if (!wait || error.code() == ErrorCode::kInvalidArgument) throw;
    leave(fmt::format("{}; waiting for it", error.what()));
  }
  thread_ = std::thread([this] { run(); });
}

Receiver::~Receiver() {
  stop();
  thread_.join();
}

void Receiver::stop() noexcept {
  interrupt_.stop();
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

Receiver::Event Receiver::next() {
  std::unique_lock lock(mutex_);
  if (!std::exchange(has_begun_, true)) packets_.begin();
  if (packets_.empty())
    changed_.wait_for(lock, std::chrono::seconds(1),
                      [this] { return !packets_.empty() || has_news_ || has_ended_ || interrupt_.is_stopped(); });
  if (interrupt_.is_stopped()) return {.kind = Event::Kind::kStopped};
  if (const std::int64_t dropped = packets_.take_dropped(); dropped > 0)
    return {.kind = Event::Kind::kDropped, .dropped = dropped};
  if (!packets_.empty()) return {.kind = Event::Kind::kPacket, .packet = packets_.pop()};
  if (has_ended_) return {.kind = Event::Kind::kEnd};
  if (away_.empty()) return {.kind = Event::Kind::kNothing};
  has_news_ = false;
  return {.kind = Event::Kind::kAway, .message = away_};
}

void Receiver::open_anew(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  refused_ = why;
}

std::string Receiver::refusal() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(refused_, {});
}

/// Throws Error.
void Receiver::open(Inspection inspection, const network::OpeningTimes& patience) {
  input_ = open_network_input(stream_, interrupt_, inspection, patience, opening_);
  streams_ = input_.file->nb_streams;
  auto format = std::make_shared<ConnectionFormat>();
  format->parameters = avcodec_parameters_alloc();
  if (format->parameters == nullptr || avcodec_parameters_copy(format->parameters, input_.stream->codecpar) < 0)
    throw std::bad_alloc();
  format->unit = input_.stream->time_base;
  format->has_times = has_times(*input_.file);
  format->orientation = orientation_of(*input_.stream);
  format_ = std::move(format);
  refusal();  // of the connection before
  const AVCodecID codec = format_->parameters->codec_id;
  if (std::exchange(codec_, codec) != codec && restarts_ > 0) ++format_changes_;
  sender_.restart(codec);
  suspects_ = 0;
  take_losses();
  is_paced_ = is_offered_ahead(*input_.file);
  first_due_.reset();
  pace_ = {};
}

void Receiver::describe() {
  const AVRational rate = av_guess_frame_rate(input_.file.get(), input_.stream, nullptr);
  const double frames_per_second = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
  // Those that are not decoded are no frames of the source, whose rate is unknown then.
  if (stream_.frames == network::Frames::kAll && frames_per_second <= kHighestRate && format_->has_times)
    info_.frame_rate = frames_per_second;
  info_.width = format_->parameters->width;
  info_.height = format_->parameters->height;
  if (format_->orientation >= 5) std::swap(info_.width, info_.height);
}

void Receiver::run() noexcept {
  pthread_setname_np(pthread_self(), "saccade-net");
  while (!interrupt_.is_stopped()) {
    try {
      run_until_stopped();
      return;
    } catch (const std::exception& error) {
      // No memory for a packet, most likely: it may be there in a second.
      input_ = {};
      leave(fmt::format("{}: receiving has failed ({}); it is opened again", stream_.name, error.what()));
    }
  }
}

void Receiver::run_until_stopped() {
  while (!interrupt_.is_stopped()) {
    if (input_.file == nullptr && !open_again()) continue;
    const std::string why = receive();
    const bool has_ended = why.empty();
    input_ = {};
    if (interrupt_.is_stopped()) return;
    if (has_ended) return end();
    ++restarts_;
    leave(fmt::format("{}: {}; it is opened again", stream_.name, why));
  }
}

/// False if it is still away.
bool Receiver::open_again() {
  if (!sleep_until(schedule_.next())) return false;
  schedule_.attempt(Clock::now());
  try {
    open(Inspection::kShort, schedule_.patience(stream_.timeout, opening_));
  } catch (const Error& error) {
    if (interrupt_.is_stopped()) return false;
    interrupt_.has_expired() ? schedule_.miss() : schedule_.fail();
    const bool is_login_refused = error.code() == ErrorCode::kDevice;
    if (is_login_refused) schedule_.refuse(Clock::now());
    log(LogLevel::kDebug, "{}", error.what());
    leave(fmt::format("{}; waiting for it", error.what()));
    return false;
  }
  log(LogLevel::kInfo, "{}: opened again", stream_.name);
  return true;
}

/// Receives until the connection fails, and returns why; empty if the stream has ended or receiving was stopped.
std::string Receiver::receive() {
  auto heard = Clock::now();
  while (!interrupt_.is_stopped()) {
    interrupt_.expire_at(heard + stream_.timeout);
    AvPacket packet(av_packet_alloc());
    if (packet == nullptr) throw std::bad_alloc();
    forget_message();
    const int error = av_read_frame(input_.file.get(), packet.get());
    if (interrupt_.is_stopped()) return {};
    if (error < 0 && interrupt_.is_damaged()) return "its data is damaged, and hides the borders of packets";
    // A demuxer may return a last packet at the interruption, and fail when it is called again.
    const bool is_late = interrupt_.has_expired() && (error < 0 || packet->stream_index != input_.stream->index);
    if (is_late || error == AVERROR_EXIT)
      return fmt::format("no video for {:g} s", std::chrono::duration<double>(stream_.timeout).count());
    if (error == AVERROR(EAGAIN)) {
      if (!sleep_until(Clock::now() + std::chrono::milliseconds(5))) return {};
      continue;
    }
    if (error == AVERROR_EOF) return is_finite(*input_.file) ? std::string() : "the server has ended it";
    if (error < 0) return fmt::format("the connection has failed ({})", reason(error));
    const auto index = static_cast<unsigned>(packet->stream_index);
    if (index >= streams_ && input_.file->streams[index]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO)
      return "it has other video now";
    if (packet->stream_index != input_.stream->index) continue;
    if (input_.stream->codecpar->codec_id != codec_) return "its codec has changed";
    if (std::string why = refusal(); !why.empty()) return why;
    heard = Clock::now();
    if (is_paced_ && !wait_until_due(*packet)) return {};
    // Waiting for its time is not the server's silence.
    heard = Clock::now();
    take(std::move(packet), {.steady = heard, .wall = std::chrono::system_clock::now()});
  }
  return {};
}

void Receiver::take(AvPacket packet, const network::Arrival& arrival) {
  schedule_.arrive(arrival.steady);
  const bool is_damaged = is_suspect(*packet);
  const std::optional<std::int64_t> sender_offset = sender_.offset_at(*packet, format_->unit);
  const bool is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  if (stream_.frames == network::Frames::kKey && !is_key) return;
  const std::int64_t decoded = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  const network::PacketFacts facts{.decoded = format_->has_times ? time_of(decoded, format_->unit) : std::nullopt,
                                   .arrival = arrival.steady,
                                   .bytes = static_cast<std::size_t>(packet->size),
                                   .is_key = is_key};
  {
    const std::scoped_lock lock(mutex_);
    packets_.push({.data = std::move(packet),
                   .format = format_,
                   .arrival = arrival,
                   .is_suspect = is_damaged,
                   .sender_offset = sender_offset},
                  facts);
    away_.clear();
    has_news_ = false;
  }
  changed_.notify_all();
}

/// A loss is noticed when the packet after it arrives. That may belong to the frame that is returned now, or be the
/// first of the next one.
bool Receiver::is_suspect(const AVPacket& packet) {
  if (take_losses()) suspects_ = 2;
  const bool is_next = suspects_ > 0;
  if (is_next) --suspects_;
  return is_next || (packet.flags & AV_PKT_FLAG_CORRUPT) != 0;
}

/// Waits until a packet of a stream that is offered ahead of time is due. False if receiving was stopped.
bool Receiver::wait_until_due(const AVPacket& packet) {
  const auto now = Clock::now();
  const std::int64_t decoded = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  const auto time = time_of(decoded, format_->unit);
  if (!time) return true;
  const auto offset = std::chrono::nanoseconds(pace_.stamp(time->count(), now));
  // One that comes late delays those after it, too: the server is no faster.
  if (!first_due_ || *first_due_ + offset < now) first_due_ = now - offset;
  return sleep_until(*first_due_ + offset);
}

/// False if receiving was stopped.
bool Receiver::sleep_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, time, [this] { return interrupt_.is_stopped(); });
}

void Receiver::leave(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    has_news_ = has_news_ || away_ != why;
    away_ = why;
  }
  changed_.notify_all();
}

void Receiver::end() {
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
}

}  // namespace saccade
