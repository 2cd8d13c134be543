#include "ops/vision/pixels.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace saccade {
namespace {

constexpr int kMaxSide = 16384;

int side(const Attributes& attributes, std::string_view name) {
  const std::int64_t value = attributes.integer(name, 0);
  if (value < 1 || value > kMaxSide)
    fail(ErrorCode::kInvalidFile, "{} is {}; it must lie in 1..{}", name, value, kMaxSide);
  return static_cast<int>(value);
}

template <typename Enum, std::size_t N>
Enum choice(const Attributes& attributes, std::string_view name, const std::array<std::string_view, N>& names) {
  const std::string* value = attributes.find<std::string>(name);
  if (value == nullptr) return Enum{};
  const auto found = std::ranges::find(names, *value);
  if (found == names.end()) fail(ErrorCode::kInvalidFile, "{} can't be '{}'", name, *value);
  return static_cast<Enum>(found - names.begin());
}

template <typename T>
void three(const Attributes& attributes, std::string_view name, std::array<T, 3>& into) {
  using Stored = std::conditional_t<std::is_same_v<T, float>, float, std::int64_t>;
  const auto* values = attributes.find<std::vector<Stored>>(name);
  if (values == nullptr) return;
  if (values->size() != 3) fail(ErrorCode::kInvalidFile, "{} has {} values, not 3", name, values->size());
  for (std::size_t i = 0; i < 3; ++i) {
    const Stored value = (*values)[i];
    if constexpr (std::is_same_v<T, float>) {
      if (!std::isfinite(value)) fail(ErrorCode::kInvalidFile, "{} holds {}", name, value);
    } else if (value < 0 || value > 255) {
      fail(ErrorCode::kInvalidFile, "{} holds {}, which is outside 0..255", name, value);
    }
    into[i] = static_cast<T>(value);
  }
}

std::optional<Region> region(const Attributes& attributes) {
  const auto* values = attributes.find<std::vector<std::int64_t>>("roi");
  if (values == nullptr || values->empty()) return std::nullopt;
  constexpr std::int64_t kMost = 1'000'000;
  const auto sane = [](std::int64_t v) { return v >= 0 && v <= kMost; };
  if (values->size() != 4 || !std::ranges::all_of(*values, sane) || (*values)[2] == 0 || (*values)[3] == 0)
    fail(ErrorCode::kInvalidFile, "roi must be x, y, width, height in pixels, each from 0 to {}, the size not 0",
         kMost);
  const auto at = [&](std::size_t i) { return static_cast<int>((*values)[i]); };
  return Region{at(0), at(1), at(2), at(3)};
}

std::int64_t at_least_one(double value) { return std::max<std::int64_t>(1, static_cast<std::int64_t>(value)); }

void letterbox(const PreprocessSpec& spec, Placement& placed) {
  const double ratio = std::min(static_cast<double>(spec.width) / placed.source.width,
                                static_cast<double>(spec.height) / placed.source.height);
  if (spec.resize == ResizeMode::kLetterboxTopLeft) {  // as in YOLOX: sizes are truncated
    placed.width = at_least_one(placed.source.width * ratio);
    placed.height = at_least_one(placed.source.height * ratio);
    return;
  }
  // As in Ultralytics: sizes are rounded half to even; the larger part of an odd padding is at the right and bottom.
  placed.width = at_least_one(std::nearbyint(placed.source.width * ratio));
  placed.height = at_least_one(std::nearbyint(placed.source.height * ratio));
  placed.x = std::llrint(static_cast<double>(spec.width - placed.width) / 2 - 0.1);
  placed.y = std::llrint(static_cast<double>(spec.height - placed.height) / 2 - 0.1);
}

/// As in torchvision's CenterCrop: the corner of the crop is rounded half to even, that of a padded image truncated.
/// Hugging Face's image processors truncate both.
std::int64_t crop_start(std::int64_t scaled, int size, ResizeMode mode) {
  if (scaled < size) return (size - scaled) / 2;
  if (mode == ResizeMode::kResizeCropFloor) return -((scaled - size) / 2);
  return -std::llrint(static_cast<double>(scaled - size) / 2);
}

/// As in torchvision's Resize and CenterCrop: the long side is truncated.
void resize_crop(const PreprocessSpec& spec, Placement& placed) {
  const int width = placed.source.width;
  const int height = placed.source.height;
  const std::int64_t to = spec.resize_to > 0 ? spec.resize_to : std::max(spec.width, spec.height);
  placed.width = width <= height ? to : to * width / height;
  placed.height = width <= height ? to * height / width : to;
  placed.x = crop_start(placed.width, spec.width, spec.resize);
  placed.y = crop_start(placed.height, spec.height, spec.resize);
}

Region clip(const Region& wanted, int width, int height) {
  Region region{std::min(wanted.x, width), std::min(wanted.y, height)};
  region.width = std::min(wanted.width, width - region.x);
  region.height = std::min(wanted.height, height - region.y);
  return region;
}

}  // namespace

PreprocessSpec preprocess_spec(const Attributes& attributes) {
  static constexpr std::array<std::string_view, 5> kModes = {"stretch", "letterbox", "letterbox-topleft", "resize-crop",
                                                             "resize-crop-floor"};
  static constexpr std::array<std::string_view, 3> kOrders = {"rgb", "bgr", "gray"};
  static constexpr std::array<std::string_view, 6> kInterpolations = {
      "bilinear", "bilinear-antialias", "bicubic", "bicubic-antialias", "area", "nearest"};
  PreprocessSpec spec;
  spec.width = side(attributes, "width");
  spec.height = side(attributes, "height");
  spec.resize = choice<ResizeMode>(attributes, "resize", kModes);
  if (attributes.integer("resize_to", 0) != 0) spec.resize_to = side(attributes, "resize_to");
  spec.interpolation = choice<Interpolation>(attributes, "interpolation", kInterpolations);
  spec.color = choice<ChannelOrder>(attributes, "color", kOrders);
  three(attributes, "pad", spec.pad);
  three(attributes, "scale", spec.scale);
  three(attributes, "bias", spec.bias);
  spec.roi = region(attributes);
  return spec;
}

Placement place(const PreprocessSpec& spec, int frame_width, int frame_height) {
  if (frame_width <= 0 || frame_height <= 0)
    fail(ErrorCode::kInvalidArgument, "a frame of {}x{} pixels is empty", frame_width, frame_height);
  Placement placed;
  placed.source = {0, 0, frame_width, frame_height};
  if (spec.roi) placed.source = clip(*spec.roi, frame_width, frame_height);
  if (placed.source.width <= 0 || placed.source.height <= 0)
    fail(ErrorCode::kInvalidArgument, "the region of interest at {},{} lies outside of the frame ({}x{} pixels)",
         spec.roi->x, spec.roi->y, frame_width, frame_height);
  switch (spec.resize) {
    case ResizeMode::kStretch:
      placed.width = spec.width;
      placed.height = spec.height;
      break;
    case ResizeMode::kLetterbox:
    case ResizeMode::kLetterboxTopLeft: letterbox(spec, placed); break;
    case ResizeMode::kResizeCrop:
    case ResizeMode::kResizeCropFloor: resize_crop(spec, placed); break;
  }
  return placed;
}

std::array<float, 6> geometry_of(const Placement& placement, int frame_width, int frame_height) noexcept {
  const auto width = static_cast<float>(frame_width);
  const auto height = static_cast<float>(frame_height);
  const Region& source = placement.source;
  const double scale_x = static_cast<double>(placement.width) / source.width;
  const double scale_y = static_cast<double>(placement.height) / source.height;
  return {static_cast<float>(scale_x),
          static_cast<float>(scale_y),
          static_cast<float>(static_cast<double>(placement.x) - source.x * scale_x),
          static_cast<float>(static_cast<double>(placement.y) - source.y * scale_y),
          width,
          height};
}

Components components_of(const FrameView& frame) noexcept {
  const auto plane = [&](std::size_t i, int offset, int step, int across, int down) {
    const std::uint8_t* base = frame.planes[i];
    return Component{base == nullptr ? nullptr : base + offset, frame.pitch_bytes[i], step, across, down};
  };
  switch (frame.format) {
    case PixelFormat::kRgb24:
      return {ColorModel::kRgb, {plane(0, 0, 3, 1, 1), plane(0, 1, 3, 1, 1), plane(0, 2, 3, 1, 1)}};
    case PixelFormat::kBgr24:
      return {ColorModel::kRgb, {plane(0, 2, 3, 1, 1), plane(0, 1, 3, 1, 1), plane(0, 0, 3, 1, 1)}};
    case PixelFormat::kGray8: return {ColorModel::kGray, {plane(0, 0, 1, 1, 1)}};
    case PixelFormat::kI420:
      return {ColorModel::kYuv, {plane(0, 0, 1, 1, 1), plane(1, 0, 1, 2, 2), plane(2, 0, 1, 2, 2)}};
    case PixelFormat::kI422:
      return {ColorModel::kYuv, {plane(0, 0, 1, 1, 1), plane(1, 0, 1, 2, 1), plane(2, 0, 1, 2, 1)}};
    case PixelFormat::kI444:
      return {ColorModel::kYuv, {plane(0, 0, 1, 1, 1), plane(1, 0, 1, 1, 1), plane(2, 0, 1, 1, 1)}};
    case PixelFormat::kNv12:
      return {ColorModel::kYuv, {plane(0, 0, 1, 1, 1), plane(1, 0, 2, 2, 2), plane(1, 1, 2, 2, 2)}};
    case PixelFormat::kYuyv:
      return {ColorModel::kYuv, {plane(0, 0, 2, 1, 1), plane(0, 1, 4, 2, 1), plane(0, 3, 4, 2, 1)}};
    case PixelFormat::kUyvy:
      return {ColorModel::kYuv, {plane(0, 1, 2, 1, 1), plane(0, 0, 4, 2, 1), plane(0, 2, 4, 2, 1)}};
    case PixelFormat::kBayerRggb8:
    case PixelFormat::kBayerGrbg8:
    case PixelFormat::kBayerGbrg8:
    case PixelFormat::kBayerBggr8: {
      const Component each = plane(0, 0, 1, 1, 1);
      return {ColorModel::kRgb, {each, each, each}, mosaic_of(frame)};
    }
  }
  return {};
}

TapAxis TapAxis::of(int origin, int extent, int per, std::int64_t target, std::int64_t at) noexcept {
  TapAxis axis;
  axis.begin = origin / per;
  axis.end = (origin + extent + per - 1) / per;
  // Chroma samples are centred between the pixels that they cover, as in JPEG.
  axis.scale = 1.0 / (static_cast<double>(target) / extent) / per;
  axis.first = static_cast<double>(at);
  axis.offset = static_cast<double>(origin) / per - axis.begin;
  return axis;
}

Tap TapAxis::at(int position) const noexcept {
  const auto sample = static_cast<float>((position - first + 0.5) * scale + offset - 0.5);
  const int last = end - begin - 1;
  float below = std::floor(sample);
  float part = sample - below;
  if (below < 0) below = part = 0;
  if (below >= static_cast<float>(last)) {
    below = static_cast<float>(last);
    part = 0;
  }
  const int lower = static_cast<int>(below);
  const int weight = static_cast<int>(std::lrint(part * 2048));
  return {begin + lower, begin + std::min(lower + 1, last), 2048 - weight, weight};
}

YuvMatrix yuv_matrix(ColorMatrix matrix, ColorRange range) noexcept {
  struct Weights {
    double red, blue;
  };
  constexpr std::array<Weights, 3> kWeights = {Weights{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};
  const auto [red, blue] = kWeights[static_cast<std::size_t>(matrix)];
  const double green = 1 - red - blue;
  const bool limited = range == ColorRange::kLimited;
  const double luma = limited ? 255.0 / 219 : 1;
  const double chroma = limited ? 255.0 / 224 : 1;
  const auto fixed = [](double value) { return static_cast<int>(std::lrint(value * 65536)); };
  return {limited ? 16 : 0,
          fixed(luma),
          fixed(chroma * 2 * (1 - red)),
          -fixed(chroma * 2 * (1 - blue) * blue / green),
          -fixed(chroma * 2 * (1 - red) * red / green),
          fixed(chroma * 2 * (1 - blue))};
}

}  // namespace saccade
