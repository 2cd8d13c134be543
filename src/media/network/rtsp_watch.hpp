#pragma once

#include <chrono>
#include <string_view>

#include "base/clock.hpp"

namespace saccade::network {

/// Notices that the connection of an RTSP session is damaged. Within it, packets of RTP follow each other, each behind
/// its length, with the server's messages between them. One damaged byte can hide all borders after it: the client
/// takes the video for text, or waits for what never comes, while the server sends on. One thread.
class RtspWatch {
 public:
  /// The rest of a message, or of an unusual packet, comes within that time: servers send it in one piece. TCP needs
  /// part of it to send again what was lost.
  static constexpr std::chrono::milliseconds kRest{700};
  /// A longer packet is unusual if none was as long before.
  static constexpr int kUsual = 4096;

  /// A session is opened, whose packets come within SILENCE of each other. Before the first call, nothing is damaged.
  void begin(std::chrono::nanoseconds silence);
  /// It is open: packets follow.
  void open() { is_open_ = true; }

  /// The client sends REQUEST.
  void hear_request(std::string_view request, Clock::time_point now);
  /// The server has sent the line LINE of a message, without its end; empty: the message ends.
  void hear_line(std::string_view line, Clock::time_point now);
  /// A packet of LENGTH bytes begins on the interleaved CHANNEL: an even one has RTP, an odd one RTCP (RFC 7826, 14).
  void hear_packet(int channel, int length, Clock::time_point now);

  bool is_damaged(Clock::time_point now) const { return is_damaged_ || (is_due_ && now - heard_ > kRest); }
  /// Whether RTP has come to a stop while the session is opened: most likely, a length is damaged.
  bool is_silent(Clock::time_point now) const { return !is_open_ && has_packets_ && now - packet_ > allowed_silence_; }
  /// The longest time between two packets of RTP while the session was opened.
  std::chrono::nanoseconds longest_silence() const { return longest_silence_; }

 private:
  bool has_begun_ = false;
  bool is_open_ = false;
  bool is_damaged_ = false;
  bool is_due_ = false;  ///< the rest of what has begun at heard_
  bool is_in_message_ = false;
  bool has_content_ = false;  ///< the response to the last request
  int longest_ = kUsual;      ///< packet, of the whole ones
  int length_ = 0;            ///< of the last packet
  Clock::time_point heard_{};
  bool has_packets_ = false;  ///< of RTP
  Clock::time_point packet_{};
  std::chrono::nanoseconds allowed_silence_{};
  std::chrono::nanoseconds longest_silence_{};
};

}  // namespace saccade::network
