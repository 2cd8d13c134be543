#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "media/network/tiny_server.hpp"

namespace saccade::test {

/// The server's side of an RTSP session over the connection of a TinyRequest: MPEG-1 within it, a packet for each
/// frame.
class TinyRtsp {
 public:
  explicit TinyRtsp(const TinyRequest& request) : request_(request) {}

  /// Responds to the client until it plays. What it sends in response to METHOD ends before END, if that is in it.
  void play(std::string_view method = {}, std::string_view end = {}) const {
    std::string head = request_.head;
    while (!head.empty()) {
      std::string response = response_to(head);
      if (!method.empty() && head.starts_with(method)) response.resize(std::min(response.size(), response.find(end)));
      request_.send(response);
      if (head.starts_with("PLAY ")) return;
      head = next_request();
    }
  }

  /// The packet of FRAME, the one with NUMBER.
  static std::string packet(int number, std::string_view frame) {
    const auto time = static_cast<std::uint32_t>(number) * 3600;
    std::string packet = {'$', 0};
    append(packet, static_cast<std::uint32_t>(16 + frame.size()), 2);
    packet += {static_cast<char>(0x80), static_cast<char>(0x80 | 32)};
    append(packet, static_cast<std::uint32_t>(number), 2);
    append(packet, time, 4);
    append(packet, 7, 4);  // the source
    append(packet, 0, 4);  // RFC 2250
    return packet.append(frame);
  }

  /// The frames of a video without a container.
  static std::vector<std::string> frames_of(std::string_view video) {
    constexpr std::string_view kImage("\0\0\1\0", 4);
    constexpr std::string_view kSequence("\0\0\1\xB3", 4);
    std::vector<std::string> frames;
    std::size_t image = video.find(kImage);
    std::size_t begin = 0;
    while (image != std::string_view::npos) {
      const std::size_t next = video.find(kImage, image + 4);
      const std::size_t end = std::min(next, video.find(kSequence, image));
      frames.emplace_back(video.substr(begin, end - begin));
      begin = end;
      image = next;
    }
    return frames;
  }

 private:
  static void append(std::string& bytes, std::uint32_t value, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  }

  static std::string response_to(const std::string& head) {
    const std::size_t begin = head.find("CSeq:");
    std::string response = "RTSP/1.0 200 OK\r\n" + head.substr(begin, head.find("\r\n", begin) + 2 - begin);
    const std::string content =
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=a\r\nt=0 0\r\nm=video 0 RTP/AVP 32\r\na=control:v\r\n";
    if (head.starts_with("DESCRIBE "))
      return response + "Content-Type: application/sdp\r\nContent-Length: " + std::to_string(content.size()) +
             "\r\n\r\n" + content;
    if (head.starts_with("SETUP ")) response += "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n";
    return response + "Session: 1\r\n\r\n";
  }

  std::string next_request() const {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n"))
      if (recv(request_.socket, &byte, 1, 0) > 0)
        head.push_back(byte);
      else
        return {};
    return head;
  }

  const TinyRequest& request_;
};

}  // namespace saccade::test
