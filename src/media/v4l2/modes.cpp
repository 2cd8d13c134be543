#include "media/v4l2/modes.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"

namespace saccade::v4l2 {
namespace {

// A driver that counts on for ever must not keep us.
constexpr std::uint32_t kMostEntries = 1024;

struct Size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const Size&) const = default;
};

constexpr std::array<Size, 10> kUsualSizes = {{{320, 240},
                                               {640, 360},
                                               {640, 480},
                                               {800, 600},
                                               {1280, 720},
                                               {1280, 960},
                                               {1920, 1080},
                                               {2560, 1440},
                                               {3840, 2160},
                                               {4096, 2160}}};
constexpr std::array<std::uint32_t, 8> kUsualRates = {120, 90, 60, 50, 30, 25, 15, 10};

bool fits(std::uint32_t value, std::uint32_t low, std::uint32_t high, std::uint32_t step) {
  return value >= low && value <= high && (step <= 1 || (value - low) % step == 0);
}

/// The largest value of a range, whose end need not be a step.
std::uint32_t last_step(std::uint32_t low, std::uint32_t high, std::uint32_t step) {
  return step <= 1 || high < low ? high : high - (high - low) % step;
}

template <typename T>
void add_once(std::vector<T>& items, const T& item) {
  if (std::ranges::find(items, item) == items.end()) items.push_back(item);
}

std::vector<Size> sizes_in(const v4l2_frmsize_stepwise& range, const CameraOptions& wanted) {
  std::vector<Size> sizes;
  const auto add = [&](Size size) {
    if (fits(size.width, range.min_width, range.max_width, range.step_width) &&
        fits(size.height, range.min_height, range.max_height, range.step_height))
      add_once(sizes, size);
  };
  for (const Size& usual : kUsualSizes) add(usual);
  if (wanted.width > 0) add({static_cast<std::uint32_t>(wanted.width), static_cast<std::uint32_t>(wanted.height)});
  add({last_step(range.min_width, range.max_width, range.step_width),
       last_step(range.min_height, range.max_height, range.step_height)});
  return sizes;
}

/// Where the driver has no list: the size that is set.
std::vector<Size> current_size(SystemCalls& calls, int device) {
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (calls.control(device, VIDIOC_G_FMT, &format) != 0) return {};
  std::vector<Size> sizes = {{format.fmt.pix.width, format.fmt.pix.height}};
  return sizes;
}

std::vector<Size> sizes_of(SystemCalls& calls, int device, std::uint32_t code, const CameraOptions& wanted) {
  std::vector<Size> sizes;
  for (std::uint32_t i = 0; i < kMostEntries; ++i) {
    v4l2_frmsizeenum size{};
    size.index = i;
    size.pixel_format = code;
    if (calls.control(device, VIDIOC_ENUM_FRAMESIZES, &size) != 0) break;
    if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE) return sizes_in(size.stepwise, wanted);
    add_once(sizes, Size{size.discrete.width, size.discrete.height});
  }
  return sizes.empty() ? current_size(calls, device) : sizes;
}

FrameInterval interval_of(const v4l2_fract& fraction) { return {fraction.numerator, fraction.denominator}; }

/// RATE as a fraction: exact for rates of three decimals.
FrameInterval interval_of(double rate) {
  constexpr std::uint32_t kThousandth = 1000;
  return {kThousandth, static_cast<std::uint32_t>(std::lround(rate * kThousandth))};
}

std::vector<FrameInterval> intervals_in(const v4l2_frmival_stepwise& range, const CameraOptions& wanted) {
  const double fastest = interval_of(range.min).rate();
  const double slowest = interval_of(range.max).rate();
  std::vector<FrameInterval> intervals = {interval_of(range.min)};
  const auto add = [&](FrameInterval interval) {
    if (interval.rate() < fastest && interval.rate() >= slowest) intervals.push_back(interval);
  };
  for (const std::uint32_t rate : kUsualRates) add({1, rate});
  if (wanted.rate > 0) add(interval_of(wanted.rate));
  return intervals;
}

std::vector<FrameInterval> intervals_of(SystemCalls& calls, int device, std::uint32_t code, Size size,
                                        const CameraOptions& wanted) {
  std::vector<FrameInterval> intervals;
  for (std::uint32_t i = 0; i < kMostEntries; ++i) {
    v4l2_frmivalenum interval{};
    interval.index = i;
    interval.pixel_format = code;
    interval.width = size.width;
    interval.height = size.height;
    if (calls.control(device, VIDIOC_ENUM_FRAMEINTERVALS, &interval) != 0) break;
    if (interval.type != V4L2_FRMIVAL_TYPE_DISCRETE) return intervals_in(interval.stepwise, wanted);
    intervals.push_back(interval_of(interval.discrete));
  }
  if (intervals.empty()) intervals.emplace_back();
  return intervals;
}

std::vector<std::uint32_t> codes_of(SystemCalls& calls, int device) {
  std::vector<std::uint32_t> codes;
  for (std::uint32_t i = 0; i < kMostEntries; ++i) {
    v4l2_fmtdesc description{};
    description.index = i;
    description.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (calls.control(device, VIDIOC_ENUM_FMT, &description) != 0) break;
    codes.push_back(description.pixelformat);
  }
  return codes;
}

}  // namespace

std::string to_string(const Mode& mode) {
  std::string text = fmt::format("{}x{} {}", mode.width, mode.height, mode.format->name);
  if (mode.interval.rate() > 0) text += fmt::format(" at {:.4g} fps", mode.interval.rate());
  return text;
}

std::vector<Mode> modes_of(SystemCalls& calls, int device, const CameraOptions& wanted) {
  std::vector<Mode> modes;
  for (const std::uint32_t code : codes_of(calls, device)) {
    const CameraFormat* format = find_format(code);
    if (format == nullptr) continue;
    for (const Size size : sizes_of(calls, device, format->code, wanted)) {
      // Chroma is shared by two pixels.
      if (size.width < 2 || size.height < 2 || size.width > INT16_MAX || size.height > INT16_MAX) continue;
      for (const FrameInterval& interval : intervals_of(calls, device, format->code, size, wanted))
        modes.push_back({format, static_cast<int>(size.width), static_cast<int>(size.height), interval});
    }
  }
  return modes;
}

std::vector<std::string> unsupported_formats_of(SystemCalls& calls, int device) {
  std::vector<std::string> names;
  for (const std::uint32_t code : codes_of(calls, device))
    if (find_format(code) == nullptr) add_once(names, four_characters(code));
  return names;
}

bool is_wanted(const Mode& mode, const CameraOptions& wanted) {
  constexpr double kTolerance = 0.01;
  if (wanted.format != nullptr && wanted.format != mode.format) return false;
  if (wanted.width > 0 && (wanted.width != mode.width || wanted.height != mode.height)) return false;
  const double rate = mode.interval.rate();
  // An unknown rate is set, and compared then.
  return wanted.rate == 0 || rate == 0 || std::abs(rate - wanted.rate) <= kTolerance * wanted.rate;
}

CameraScore score_of(const Mode& mode, const ModelSize& model) {
  constexpr double kEnoughFrames = 60;
  constexpr double kUnknownRate = 15;  // a quarter of that, so that half of the points are lost
  const double known = mode.interval.rate();
  const double rate = known > 0 ? known : kUnknownRate;
  const double pixels = static_cast<double>(mode.width) * mode.height;
  CameraScore score;
  score.rate = 40 * (1 - std::sqrt(std::min(rate / kEnoughFrames, 1.0)));
  // The frame is fitted into the model's input with its proportions: its longer side matters.
  const double scale =
      std::max(static_cast<double>(mode.width) / model.width, static_cast<double>(mode.height) / model.height);
  score.size = scale < 1 ? 60 * (1 - scale) : 2 * std::log2(scale);
  score.conversion = 20 * mode.format->decoding_ns * pixels * rate / 1e9;
  if (!mode.format->has_color) score.conversion += 30;
  // What a camera makes of its sensor's samples, white balance and gamma, is missing.
  if (mode.format->pixels && is_mosaic(*mode.format->pixels)) score.conversion += 15;
  score.bus = 5 * mode.format->bus_bytes * pixels * rate / 100e6;
  return score;
}

const Mode& best_mode(std::span<const Mode> modes, const ModelSize& model) {
  SACCADE_ASSERT(!modes.empty());
  return *std::ranges::min_element(modes, {}, [&](const Mode& mode) { return score_of(mode, model).total(); });
}

}  // namespace saccade::v4l2
