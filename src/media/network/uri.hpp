#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace saccade {

/// Whether URI names a network stream: rtsp, rtsps, rtmp, rtmps, srt, udp, http or https.
bool is_network(std::string_view uri);

namespace network {

/// How RTSP carries the video.
enum class Transport {
  kTcp,  ///< within the connection of the session: nothing is lost
  kUdp,  ///< in datagrams: nothing is late
};
/// The frames that are decoded.
enum class Frames {
  kAll,
  kReference,  ///< those that others refer to
  kKey,        ///< those that refer to no other
};

/// A network stream and its options.
struct StreamUri {
  std::string url;     ///< without the options: what is requested
  std::string name;    ///< the same without passwords, for people
  std::string scheme;  ///< "rtsp", in lower case
  Transport transport = Transport::kTcp;
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);  ///< without a response, or without video
  Frames frames = Frames::kAll;
};

/// Reads URI (is_network()): options follow a '#'. Throws Error (kInvalidArgument) naming the option and its valid
/// values. Its message has no passwords.
StreamUri parse_stream(const std::string& uri);

/// The duration of "5s", "500ms" or "5", from 100 ms to an hour; nothing if TEXT is none.
std::optional<std::chrono::nanoseconds> read_duration(std::string_view text);

/// The name of a source that is given as URI, as SourceInfo has it: of a network stream its URL without options and
/// passwords; else URI.
std::string source_name(const std::string& uri);

/// The same for an address that is published to, also without the stream key: the last part of an RTMP path.
std::string publish_name(const std::string& url);

/// TEXT with "***" in the place of the secrets of the URLs in it: the password in "USER:PASSWORD@", the values of
/// parameters that are named after a password, a token, a key or a signature, and the stream key of RTMP.
std::string redact(std::string_view text);

}  // namespace network
}  // namespace saccade
