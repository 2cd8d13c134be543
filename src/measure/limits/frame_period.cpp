#include "measure/limits/frame_period.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "measure/limits/bounds.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

constexpr int kMostSide = 65536;

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// Removes a positive number and the following character from TEXT; false if there is none.
template <typename Number>
bool take(std::string_view& text, Number& value, char behind) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto used = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || !(value > 0) || used >= text.size() || text[used] != behind) return false;
  text.remove_prefix(used + 1);
  return true;
}

/// Parses TEXT as FRAME's format; false if it is unknown or FRAME's size is invalid for a camera.
bool take_format(std::string_view text, FrameSize& frame) {
  const auto found =
      std::ranges::find_if(kPixelFormats, [&](PixelFormat format) { return same_letters(to_string(format), text); });
  if (found == kPixelFormats.end() || std::max(frame.width, frame.height) > kMostSide) return false;
  frame.format = *found;
  return true;
}

std::string known_formats() {
  std::string known;
  for (const PixelFormat format : kPixelFormats)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(format));
  return known;
}

}  // namespace

std::int64_t CameraMode::frame_bytes() const {
  std::int64_t bytes = 0;
  for (const PlaneSize& plane : plane_sizes(frame.format, frame.width, frame.height))
    bytes += static_cast<std::int64_t>(plane.row_bytes) * plane.rows;
  return bytes;
}

CameraMode parse_camera(std::string_view text) {
  CameraMode camera;
  std::string_view rest = text;
  const bool is_read = take(rest, camera.frame.width, 'x') && take(rest, camera.frame.height, '@') &&
                       take(rest, camera.rate, ':') && std::isfinite(camera.rate) && take_format(rest, camera.frame);
  if (is_read) return camera;
  fail(ErrorCode::kInvalidArgument, "'{}' is not a camera mode such as '320x240@90:yuyv', with one of the formats {}",
       text, known_formats());
}

FrameSize parse_frame_size(std::string_view text) {
  FrameSize frame;
  std::string_view rest = text;
  if (take(rest, frame.width, 'x') && take(rest, frame.height, ':') && take_format(rest, frame)) return frame;
  fail(ErrorCode::kInvalidArgument, "'{}' is not a frame such as '320x240:yuyv', with one of the formats {}", text,
       known_formats());
}

std::string to_string(const FrameSize& frame) {
  return fmt::format("{}x{} {}", frame.width, frame.height, to_string(frame.format));
}

std::string to_string(const CameraMode& camera) {
  return fmt::format("{}x{}@{:g}:{}", camera.frame.width, camera.frame.height, camera.rate,
                     to_string(camera.frame.format));
}

FramePeriod frame_period(const CameraMode& camera, const std::vector<FrameStage>& stages, int frames) {
  FramePeriod found{.period = camera.period(), .frames = frames, .stages = stages};
  double least = 1;
  for (const FrameStage& stage : stages) {
    found.processing += stage.time;
    if (stage.bound.count() <= 0 || stage.time.count() <= 0) continue;
    const double explained = 1 - headroom(stage.bound, stage.time);
    if (!found.most_headroom.empty() && explained >= least) continue;
    least = explained;
    found.most_headroom = stage.name;
  }
  const Nanoseconds behind = found.processing - found.period;
  found.deficit = std::max(behind, Nanoseconds{});
  found.slack = std::max(-behind, Nanoseconds{});
  found.accumulated = found.deficit * frames;
  found.frames_lost = static_cast<std::int64_t>(std::floor(found.accumulated / found.period));
  found.efficiency = found.deficit.count() > 0 ? found.period / found.processing : 1;
  found.effective_rate = camera.rate * found.efficiency;
  return found;
}

Nanoseconds bus_bound(const CameraMode& camera, double bus_rate) {
  return std::chrono::duration<double>(static_cast<double>(camera.frame_bytes()) / bus_rate);
}

}  // namespace saccade
