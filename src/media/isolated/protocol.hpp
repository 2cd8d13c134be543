#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "saccade/summary.hpp"

namespace saccade::isolated {

/// The messages between a pipeline (the parent) and the process that reads one of its sources (the child). Each is a
/// Header, the body of its kind, and at most kLongestText bytes of text, in one datagram of a SOCK_SEQPACKET socket.
inline constexpr std::uint32_t kMagic = 0x44434353;  // "SCCD"
inline constexpr std::uint16_t kVersion = 2;
inline constexpr std::size_t kLongestText = 4351;  // a path, and why it can't be read
/// The child's end of the socket.
inline constexpr int kSocket = 3;

enum class Kind : std::uint16_t {
  // From the parent.
  kOpen,     ///< open a source; the same again after kEnd: from its beginning
  kFile,     ///< one of the images that kOpen announced
  kSkip,     ///< a frame that must not be decoded
  kStart,    ///< begin to read
  kPool,     ///< memory for frames, with its descriptor
  kRelease,  ///< a buffer may be written
  kCancel,   ///< end
  // From the child.
  kHello,    ///< the source is open
  kName,     ///< one of the images that kHello announced
  kError,    ///< an exception, at opening or while reading; the child ends
  kNeed,     ///< memory for larger frames
  kFrame,    ///< a frame
  kFailure,  ///< the reason why there is none
  kFaults,   ///< the device's faults so far, before the frame or failure that follows them
  kLog,      ///< a line of the log
};

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Kind kind = Kind::kCancel;
  std::uint32_t text = 0;  ///< bytes after the body
};

struct Open {
  static constexpr Kind kKind = Kind::kOpen;  // text: the URI, or the name of the images
  std::uint32_t images = 0;                   ///< messages kFile that follow; 0: the text is a URI
  std::int32_t decode_threads = 0;
  std::int32_t model_width = 0;
  std::int32_t model_height = 0;
  std::uint32_t wait = 0;  ///< ReaderOptions::wait
  std::uint32_t log_level = 0;
};
struct File {
  static constexpr Kind kKind = Kind::kFile;  // text: its path
  std::uint32_t index = 0;
};
struct Skip {
  static constexpr Kind kKind = Kind::kSkip;
  std::int64_t number = 0;  ///< of the frame within the source
};
struct Start {
  static constexpr Kind kKind = Kind::kStart;
  std::int64_t delivered = 0;  ///< frames and corrupt frames at the beginning that the parent has
};
struct Pool {
  static constexpr Kind kKind = Kind::kPool;
  std::uint32_t generation = 0;
  std::uint32_t buffers = 0;
  std::uint64_t bytes = 0;  ///< of one buffer
};
struct Release {
  static constexpr Kind kKind = Kind::kRelease;
  std::uint32_t generation = 0;
  std::uint32_t index = 0;
};
struct Cancel {
  static constexpr Kind kKind = Kind::kCancel;
  std::uint32_t unused = 0;
};

struct Hello {
  static constexpr Kind kKind = Kind::kHello;  // text: SourceInfo::name
  std::uint32_t files = 0;                     ///< messages kName that follow
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::uint8_t live = 0;
  std::uint8_t endless = 0;
  double frame_rate = 0;
  std::int64_t frames = 0;
};
struct Name {
  static constexpr Kind kKind = Kind::kName;  // text: its path
  std::uint32_t index = 0;
};
struct Fault {
  static constexpr Kind kKind = Kind::kError;  // text: what the exception says
  std::uint32_t code = 0;                      ///< ErrorCode
};
struct Need {
  static constexpr Kind kKind = Kind::kNeed;
  std::uint64_t bytes = 0;  ///< of one frame
};
struct FrameHead {
  static constexpr Kind kKind = Kind::kFrame;  // text: Frame::name
  std::uint32_t generation = 0;
  std::uint32_t index = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::uint8_t format = 0;
  std::uint8_t matrix = 0;
  std::uint8_t range = 0;
  std::uint8_t has_exposed = 0;
  std::uint8_t has_captured_at = 0;
  std::array<std::int32_t, 3> pitch_bytes{};
  std::array<std::uint64_t, 3> offset{};  ///< of the planes within the buffer
  std::int64_t sequence = 0;
  std::int64_t timestamp_ns = 0;
  std::int64_t image_id = 0;
  // Nanoseconds of CLOCK_MONOTONIC, which all processes share.
  std::int64_t captured = 0;
  std::int64_t capture_time = 0;
  std::int64_t exposed = 0;
  std::int64_t captured_at = 0;  ///< nanoseconds since 1970
};
struct Absence {
  static constexpr Kind kKind = Kind::kFailure;  // text: Failure::message
  std::uint32_t status = 0;                      ///< Status
};
struct Faults {
  static constexpr Kind kKind = Kind::kFaults;
  SourceFaults counts;
};
struct LogLine {
  static constexpr Kind kKind = Kind::kLog;  // text: the line
  std::uint32_t level = 0;                   ///< LogLevel
};

/// A received message.
struct Packet {
  Header header;
  std::array<std::byte, 128 + kLongestText> bytes;  ///< body and text
  std::size_t size = 0;                             ///< of these
  int descriptor = -1;                              ///< that came with it; the receiver closes it

  /// Whether it is a message of this kind, of the right size.
  template <typename Body>
  bool is() const {
    return header.kind == Body::kKind && size == sizeof(Body) + header.text;
  }
  template <typename Body>
  Body body() const {
    static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= 128);
    Body body;
    std::memcpy(&body, bytes.data(), sizeof(Body));
    return body;
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()) + size - header.text, header.text};
  }
};

}  // namespace saccade::isolated
