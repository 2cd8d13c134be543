#include "media/isolated/received.hpp"

#include <cmath>

namespace saccade::isolated {
namespace {

constexpr std::int64_t kMostSequence = std::int64_t{1} << 62;
constexpr std::int64_t kMostGap = std::int64_t{1} << 32;
constexpr std::uint32_t kMostFiles = 1U << 24;

void check(bool is_valid, const char* what) {
  if (!is_valid) throw BadMessage(what);
}

template <typename Body>
Body body_of(const Packet& packet) {
  check(packet.is<Body>(), "a message has the wrong size");
  check(packet.text().find('\0') == std::string_view::npos, "a text has a NUL");
  return packet.body<Body>();
}

/// VALUE as an enumerator, of which LAST is the last.
template <typename Enum>
Enum enumerator(std::uint32_t value, Enum last, const char* what) {
  check(value <= static_cast<std::uint32_t>(last), what);
  return static_cast<Enum>(value);
}

Clock::time_point time_of(std::int64_t nanoseconds) { return Clock::time_point(std::chrono::nanoseconds(nanoseconds)); }

bool is_side(int pixels) { return pixels >= 0 && pixels <= 1 << 28; }

/// The planes must lie within a buffer of CAPACITY bytes.
void check_planes(const FrameHead& head, const FrameView& view, std::size_t capacity) {
  const auto sizes = plane_sizes(view.format, view.width, view.height);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].rows == 0) continue;
    check(head.pitch_bytes[i] >= sizes[i].row_bytes, "a row is longer than the pitch");
    check(head.offset[i] <= capacity, "a plane begins outside of the buffer");
    const std::uint64_t bytes = static_cast<std::uint64_t>(head.pitch_bytes[i]) * (sizes[i].rows - 1) +
                                static_cast<std::uint64_t>(sizes[i].row_bytes);
    check(bytes <= capacity - head.offset[i], "a plane ends outside of the buffer");
  }
}

void read_times(const FrameHead& head, Clock::time_point now, Frame& frame) {
  check(head.captured >= 0 && time_of(head.captured) <= now, "a frame is from the future");
  check(head.capture_time >= 0 && head.capture_time <= head.captured, "a time of capture is impossible");
  check(head.has_exposed <= 1 && head.has_captured_at <= 1, "a flag is neither 0 nor 1");
  check(head.captured_at >= 0, "a time of capture is impossible");
  if (head.has_captured_at == 1)
    frame.captured_at = std::chrono::system_clock::time_point(std::chrono::nanoseconds(head.captured_at));
  frame.captured = time_of(head.captured);
  frame.capture_time = std::chrono::nanoseconds(head.capture_time);
  if (head.has_exposed == 0) return;
  check(head.exposed >= 0 && head.exposed <= head.captured, "an exposure begins after the capture");
  frame.exposed = time_of(head.exposed);
}

}  // namespace

ReceivedHello read_hello(const Packet& packet) {
  const auto hello = body_of<Hello>(packet);
  check(hello.live <= 1 && hello.endless <= 1, "a flag is neither 0 nor 1");
  check(is_side(hello.width) && is_side(hello.height), "a side of the source is impossible");
  check(std::isfinite(hello.frame_rate) && hello.frame_rate >= 0, "the frame rate is impossible");
  check(hello.frames >= -1 && hello.files <= kMostFiles, "the number of frames is impossible");
  return {.info = {.name = std::string(packet.text()),
                   .live = hello.live == 1,
                   .frame_rate = hello.frame_rate,
                   .frames = hello.frames,
                   .endless = hello.endless == 1,
                   .width = hello.width,
                   .height = hello.height,
                   .files = {}},
          .files = hello.files};
}

std::string_view read_name(const Packet& packet, std::size_t index) {
  check(body_of<Name>(packet).index == index, "a file has another number");
  return packet.text();
}

Error read_error(const Packet& packet) {
  const auto fault = body_of<Fault>(packet);
  return {enumerator(fault.code, ErrorCode::kInternal, "an error is unknown"), std::string(packet.text())};
}

std::size_t read_need(const Packet& packet) {
  const auto need = body_of<Need>(packet);
  check(need.bytes > 0 && need.bytes <= std::uint64_t{1} << 48, "a frame has an impossible size");
  return need.bytes;
}

ReceivedFrame read_frame(const Packet& packet, const FrameLimits& limits, Clock::time_point now) {
  const auto head = body_of<FrameHead>(packet);
  check(head.generation == limits.generation && head.index < limits.buffers, "a buffer is unknown");
  check(head.width >= 1 && is_side(head.width) && head.height >= 1 && is_side(head.height), "a side is impossible");
  check(head.sequence >= limits.next && head.sequence < kMostSequence, "a frame's number does not increase");
  check(limits.next == 0 || head.sequence - limits.next < kMostGap, "a frame's number is too high");
  check(head.image_id >= -1, "an image's number is negative");
  ReceivedFrame received{.frame = {}, .index = head.index, .offset = head.offset};
  Frame& frame = received.frame;
  FrameView& view = frame.view;
  view.format = enumerator(head.format, kPixelFormats.back(), "a pixel format is unknown");
  view.matrix = enumerator(head.matrix, ColorMatrix::kBt2020, "a colour matrix is unknown");
  view.range = enumerator(head.range, ColorRange::kFull, "a colour range is unknown");
  view.width = head.width;
  view.height = head.height;
  check_planes(head, view, limits.capacity);
  view.pitch_bytes = head.pitch_bytes;
  frame.sequence = head.sequence;
  frame.timestamp_ns = head.timestamp_ns;
  frame.image_id = head.image_id;
  read_times(head, now, frame);
  return received;
}

Failure read_failure(const Packet& packet) {
  const auto absence = body_of<Absence>(packet);
  return {enumerator(absence.status, Status::kFailed, "a status is unknown"), std::string(packet.text())};
}

SourceFaults read_faults(const Packet& packet) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // their sums do not overflow
  const SourceFaults counts = body_of<Faults>(packet).counts;
  for (const std::int64_t count :
       {counts.unplugged, counts.restarts, counts.format_changes, counts.refused_buffers, counts.replaced_timestamps})
    if (count < 0 || count > kMost) throw BadMessage("a number of faults is impossible");
  return counts;
}

ReceivedLog read_log(const Packet& packet) {
  const auto line = body_of<LogLine>(packet);
  return {enumerator(line.level, LogLevel::kDebug, "a log level is unknown"), packet.text()};
}

}  // namespace saccade::isolated
