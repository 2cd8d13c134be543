#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "ffmpeg/network_input.hpp"
#include "ffmpeg/sender_time.hpp"
#include "media/network/backlog.hpp"
#include "media/network/retry_schedule.hpp"
#include "media/network/stream_clock.hpp"
#include "saccade/source.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// What the packets of a connection have in common.
struct ConnectionFormat {
  ConnectionFormat() = default;
  ~ConnectionFormat() { avcodec_parameters_free(&parameters); }
  ConnectionFormat(const ConnectionFormat&) = delete;
  ConnectionFormat& operator=(const ConnectionFormat&) = delete;

  AVCodecParameters* parameters = nullptr;
  AVRational unit{};      ///< of timestamps
  bool has_times = true;  ///< timestamps are the stream's own
  int orientation = 1;    ///< EXIF
};

/// A packet of the video.
struct StreamPacket {
  AvPacket data;
  std::shared_ptr<const ConnectionFormat> format;
  network::Arrival arrival;
  bool is_suspect = false;  ///< packets of the network were lost: it may be incomplete
  /// What is added to presentation times, in nanoseconds, for the sender's time since 1970; nothing: unknown.
  std::optional<std::int64_t> sender_offset;
};

/// Receives a stream on a thread of its own, whether its packets are taken or not, and opens it again when it fails:
/// it closes, it is silent for the stream's timeout, or its codec changes.
class Receiver {
 public:
  using Packets = network::Backlog<StreamPacket>;

  /// What next() returns.
  struct Event {
    enum class Kind {
      kPacket,
      kDropped,  ///< the decoder is behind: frames were dropped, before all packets that are left
      kAway,     ///< the stream is away
      kNothing,  ///< no packet within a second
      kEnd,      ///< the stream has an end, which is reached
      kStopped,
    };
    Kind kind = Kind::kNothing;
    std::optional<Packets::Item> packet;
    std::int64_t dropped = 0;
    std::string message;  ///< why the stream is away
  };

  /// Opens STREAM. If that fails, throws Error as open_network_input() does; with WAIT the stream is away at first.
  Receiver(network::StreamUri stream, bool wait);
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Does not change. Any thread.
  const SourceInfo& info() const { return info_; }
  /// Of the connection at the start; null if the stream was away. Does not change. Any thread.
  const ConnectionFormat* first_format() const { return first_format_.get(); }
  /// Waits for the next event. One thread.
  Event next();
  /// Opens the stream again because of WHY: its packets can't be decoded. The thread of next().
  void open_anew(const std::string& why);
  /// Ends waiting calls of next(), and receiving. Does not wait for the thread. Any thread.
  void stop() noexcept;
  /// Those of the connection. Any thread.
  SourceFaults faults() const { return {.restarts = restarts_, .format_changes = format_changes_}; }

 private:
  void open(Inspection inspection, const network::OpeningTimes& patience);
  void describe();
  void run() noexcept;
  void run_until_stopped();
  bool open_again();
  std::string receive();
  void take(AvPacket packet, const network::Arrival& arrival);
  bool is_suspect(const AVPacket& packet);
  std::string refusal();
  bool wait_until_due(const AVPacket& packet);
  bool sleep_until(Clock::time_point time);
  void leave(const std::string& why);
  void end();

  const network::StreamUri stream_;
  SourceInfo info_;
  std::shared_ptr<const ConnectionFormat> first_format_;
  std::atomic<std::int64_t> restarts_ = 0;
  std::atomic<std::int64_t> format_changes_ = 0;

  // Of the thread that receives, once it runs.
  Interrupt interrupt_;   ///< outlives the input
  VideoInput input_;      ///< without a file: it is away
  unsigned streams_ = 0;  ///< that it had when it was opened
  std::shared_ptr<const ConnectionFormat> format_;
  AVCodecID codec_ = AV_CODEC_ID_NONE;  ///< of the last connection
  SenderTime sender_;
  network::RetrySchedule schedule_;
  network::OpeningTimes opening_;  ///< of the last connection
  int suspects_ = 0;               ///< packets to come that a loss may have damaged
  network::StreamClock pace_;      ///< of a stream that is offered ahead of time
  std::optional<Clock::time_point> first_due_;
  bool is_paced_ = false;

  std::mutex mutex_;  ///< of the following
  std::condition_variable changed_;
  Packets packets_;
  std::string away_;        ///< why the stream is away; empty: it is not
  bool has_news_ = false;   ///< next() has not returned it
  bool has_begun_ = false;  ///< next() was called
  std::string refused_;     ///< why the connection is to be ended; empty: it is not
  bool has_ended_ = false;
  std::thread thread_;  ///< last member: the thread uses all the others
};

}  // namespace saccade
