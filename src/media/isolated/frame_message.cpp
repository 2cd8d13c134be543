#include "media/isolated/frame_message.hpp"

#include <cstring>

#include "media/isolated/received.hpp"

namespace saccade::isolated {

namespace {

std::int64_t since_1970(std::chrono::system_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

FrameView copy_of(const FrameView& from, const FrameBuffer& buffer) {
  FrameView to = lay_out(buffer, from.format, from.width, from.height);
  to.matrix = from.matrix;
  to.range = from.range;
  auto* const first = reinterpret_cast<std::uint8_t*>(buffer.data);
  const auto sizes = plane_sizes(from.format, from.width, from.height);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (int y = 0; y < sizes[i].rows; ++y)
      std::memcpy(first + (to.planes[i] - to.planes[0]) + std::ptrdiff_t{y} * to.pitch_bytes[i],
                  from.planes[i] + std::ptrdiff_t{y} * from.pitch_bytes[i],
                  static_cast<std::size_t>(sizes[i].row_bytes));
  return to;
}

FrameHead head_of(const Frame& frame, const ChildPool::Place& place) {
  FrameHead head{.generation = place.generation,
                 .index = place.index,
                 .width = frame.view.width,
                 .height = frame.view.height,
                 .format = static_cast<std::uint8_t>(frame.view.format),
                 .matrix = static_cast<std::uint8_t>(frame.view.matrix),
                 .range = static_cast<std::uint8_t>(frame.view.range),
                 .has_exposed = frame.exposed.has_value(),
                 .has_captured_at = frame.captured_at.has_value(),
                 .pitch_bytes = frame.view.pitch_bytes,
                 .sequence = frame.sequence,
                 .timestamp_ns = frame.timestamp_ns,
                 .image_id = frame.image_id,
                 .captured = nanoseconds(frame.captured),
                 .capture_time = frame.capture_time.count(),
                 .exposed = frame.exposed ? nanoseconds(*frame.exposed) : 0,
                 .captured_at = frame.captured_at ? since_1970(*frame.captured_at) : 0};
  const auto* const first = reinterpret_cast<const std::uint8_t*>(place.data);
  for (std::size_t i = 0; i < head.offset.size(); ++i)
    if (frame.view.planes[i] != nullptr) head.offset[i] = static_cast<std::uint64_t>(frame.view.planes[i] - first);
  return head;
}

}  // namespace saccade::isolated
