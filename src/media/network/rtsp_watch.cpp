#include "media/network/rtsp_watch.hpp"

#include <algorithm>

namespace saccade::network {
namespace {

/// Whether LINE can be one of a message: others are video that is taken for one.
bool is_text(std::string_view line) {
  return std::ranges::none_of(line, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7F;
  });
}

/// "RTSP/1.0 200 OK" or "OPTIONS rtsp://host/path RTSP/1.0".
bool begins_message(std::string_view line) {
  return line.starts_with("RTSP/") || line.find(" RTSP/") != std::string_view::npos;
}

}  // namespace

void RtspWatch::begin(std::chrono::nanoseconds silence) {
  *this = {};
  has_begun_ = true;
  allowed_silence_ = silence;
}

void RtspWatch::hear_request(std::string_view request, Clock::time_point now) {
  if (!has_begun_) return;
  // A client that is interrupted may go on with its next request.
  is_damaged_ = is_damaged(now);
  has_content_ = request.starts_with("DESCRIBE ");
  is_due_ = is_in_message_ = false;
}

void RtspWatch::hear_line(std::string_view line, Clock::time_point now) {
  if (!has_begun_) return;
  is_damaged_ = is_damaged(now);
  heard_ = now;
  if (line.empty()) {
    // The client sends its next request behind the content.
    is_due_ = is_in_message_ && has_content_ && !is_open_;
    is_in_message_ = false;
    return;
  }
  is_damaged_ = is_damaged_ || !is_text(line) || (!is_in_message_ && !begins_message(line));
  is_due_ = is_in_message_ = true;
}

void RtspWatch::hear_packet(int channel, int length, Clock::time_point now) {
  if (!has_begun_) return;
  if (channel % 2 == 0 && !is_open_) {
    if (has_packets_) longest_silence_ = std::max<std::chrono::nanoseconds>(longest_silence_, now - packet_);
    has_packets_ = true;
    packet_ = now;
  }
  is_damaged_ = is_damaged(now);
  longest_ = std::max(longest_, length_);
  length_ = length;
  heard_ = now;
  is_in_message_ = false;
  // The first packets are those of a key frame, the longest ones.
  is_due_ = is_open_ && length > longest_;
}

}  // namespace saccade::network
