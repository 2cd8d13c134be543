#include "ops/sampling/resize_axis.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "ops/core/op.hpp"

namespace saccade {
namespace {

constexpr float kLongest = 1e9F;

/// Applies one common scale to all resized axes, so that the aspect ratio is kept within (or beyond) the sizes.
void keep_aspect_ratio(std::vector<ResizeAxis>& axes, bool not_larger) {
  float chosen = 0;
  for (const ResizeAxis& axis : axes) {
    if (!axis.resized) continue;
    const bool better = not_larger ? axis.scale < chosen : axis.scale > chosen;
    if (chosen == 0 || better) chosen = axis.scale;
  }
  for (ResizeAxis& axis : axes) {
    if (!axis.resized) continue;
    axis.scale = chosen;
    axis.out = static_cast<std::int64_t>(std::floor(chosen * static_cast<float>(axis.in) + 0.5F));
  }
}

void check_count(std::string_view what, std::size_t count, std::size_t wanted) {
  if (count != wanted) fail(ErrorCode::kInvalidFile, "Resize has {} {} for {} axes", count, what, wanted);
}

void set_length(ResizeAxis& axis, const std::vector<float>& scales, const std::vector<std::int64_t>& sizes,
                std::size_t i) {
  if (axis.in < 1) fail(ErrorCode::kInvalidFile, "Resize can't enlarge an axis of no elements");
  axis.resized = true;
  if (sizes.empty()) {
    axis.scale = scales[i];
    const float length = axis.scale * static_cast<float>(axis.in);
    if (!(axis.scale > 0) || !(length < kLongest))
      fail(ErrorCode::kInvalidFile, "Resize can't scale {} elements by {}", axis.in, axis.scale);
    axis.out = static_cast<std::int64_t>(length);
  } else {
    axis.out = sizes[i];
    if (axis.out < 1 || static_cast<float>(axis.out) >= kLongest)
      fail(ErrorCode::kInvalidFile, "Resize can't make {} elements of {}", axis.out, axis.in);
    axis.scale = static_cast<float>(axis.out) / static_cast<float>(axis.in);
  }
}

/// The input coordinate of output X, by coordinate_transformation_mode.
using Transform = std::function<float(float)>;

Transform transform_of(const Attributes& attributes, const ResizeAxis& axis) {
  const std::string mode = attributes.text("coordinate_transformation_mode", "half_pixel");
  const float scale = axis.scale;
  const auto in = static_cast<float>(axis.in);
  const auto out = static_cast<float>(axis.out);
  const auto half_pixel = [scale](float x) { return (x + 0.5F) / scale - 0.5F; };
  const auto constant = [](float at) { return [at](float) { return at; }; };
  if (mode == "half_pixel") return half_pixel;
  if (mode == "half_pixel_symmetric") {
    // The output has an integral size, in * scale may not: the remainder is split between both sides.
    const float offset = in / 2 * (1 - out / (scale * in));
    // ONNX Runtime computes this one in float64.
    return [offset, scale](float x) { return static_cast<float>(offset + (x + 0.5) / scale - 0.5); };
  }
  if (mode == "pytorch_half_pixel") return axis.out > 1 ? Transform(half_pixel) : Transform(constant(0));
  if (mode == "asymmetric") return [scale](float x) { return x / scale; };
  if (mode == "align_corners") {
    if (axis.out == 1) return constant(0);
    return [in, out](float x) { return x * (in - 1) / (out - 1); };
  }
  if (mode == "tf_crop_and_resize") {
    const float start = axis.roi_start;
    const float end = axis.roi_end;
    if (axis.out == 1) return constant(0.5F * (start + end) * (in - 1));
    return [=](float x) { return start * (in - 1) + x * (end - start) * (in - 1) / (out - 1); };
  }
  fail(ErrorCode::kInvalidFile, "Resize does not know the coordinate_transformation_mode '{}'", mode);
}

using Rounding = float (*)(float);

/// Coordinates this close to the middle between two elements count as the middle: scales are floats, and 1/3 is
/// inexact. ONNX Runtime has the same tolerance.
constexpr double kMiddle = 1e-6;

Rounding rounding_of(const Attributes& attributes) {
  const std::string mode = attributes.text("nearest_mode", "round_prefer_floor");
  if (mode == "round_prefer_floor") return [](float x) { return static_cast<float>(std::ceil(x - 0.5 - kMiddle)); };
  if (mode == "round_prefer_ceil") return [](float x) { return static_cast<float>(std::floor(x + 0.5 + kMiddle)); };
  if (mode == "floor") return [](float x) { return std::floor(x); };
  if (mode == "ceil") return [](float x) { return std::ceil(x); };
  fail(ErrorCode::kInvalidFile, "Resize does not know the nearest_mode '{}'", mode);
}

/// An interpolation kernel as a function of the distance to the output, with its radius.
struct Filter {
  float reach;
  std::function<float(float)> weight;
};

Filter filter_of(const Attributes& attributes, const std::string& mode) {
  if (mode == "linear") return {1, [](float distance) { return std::max(0.0F, 1 - std::abs(distance)); }};
  if (mode != "cubic") fail(ErrorCode::kInvalidFile, "Resize does not know the mode '{}'", mode);
  const float a = attributes.real("cubic_coeff_a", -0.75F);
  // R. Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981.
  return {2, [a](float distance) {
            const float d = std::abs(distance);
            if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
            return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0.0F;
          }};
}

/// Removes inputs of weight 0: a NaN or infinity there would make the output NaN. At least one input is kept.
void drop_weightless(ResizeTap& tap) {
  while (tap.weights.size() > 1 && tap.weights.back() == 0) tap.weights.pop_back();
  const auto first = std::ranges::find_if(tap.weights, [](float weight) { return weight != 0; });
  if (first == tap.weights.end()) return;
  tap.first += first - tap.weights.begin();
  tap.weights.erase(tap.weights.begin(), first);
}

/// The taps around CENTER. Weights beyond the input are added to its edge, or dropped if exclude_outside is set.
ResizeTap interpolate(const Filter& filter, float center, float shrink, std::int64_t length, bool exclude_outside) {
  const float reach = filter.reach / shrink;
  const auto clamp = [length](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, length - 1); };
  const auto low = static_cast<std::int64_t>(std::floor(center - reach)) + 1;
  const auto high = static_cast<std::int64_t>(std::ceil(center + reach)) - 1;
  ResizeTap tap{.first = clamp(low)};
  tap.weights.resize(static_cast<std::size_t>(clamp(high) - tap.first + 1), 0.0F);
  float sum = 0;
  for (std::int64_t i = low; i <= high; ++i) {
    if (exclude_outside && i != clamp(i)) continue;
    const float weight = filter.weight((static_cast<float>(i) - center) * shrink);
    tap.weights[static_cast<std::size_t>(clamp(i) - tap.first)] += weight;
    sum += weight;
  }
  if ((exclude_outside || shrink < 1) && sum != 0)
    for (float& weight : tap.weights) weight /= sum;
  drop_weightless(tap);
  return tap;
}

}  // namespace

std::vector<ResizeAxis> resize_axes(const Attributes& attributes, const Shape& input, const std::vector<float>& scales,
                                    const std::vector<std::int64_t>& sizes, const std::vector<float>& roi) {
  std::vector<ResizeAxis> axes;
  for (const std::int64_t dim : input) axes.push_back({.in = dim, .out = dim});
  auto listed = attributes.integers("axes");
  if (listed.empty())
    for (int i = 0; i < input.rank(); ++i) listed.push_back(i);
  if (scales.empty() == sizes.empty()) fail(ErrorCode::kInvalidFile, "Resize takes either scales or sizes");
  check_count("scales or sizes", scales.size() + sizes.size(), listed.size());
  if (!roi.empty()) check_count("bounds of its region of interest", roi.size(), 2 * listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const int at = InferContext::axis(listed[i], input.rank());
    if (at >= input.rank()) fail(ErrorCode::kInvalidFile, "Resize can't resize a scalar");
    ResizeAxis& axis = axes[static_cast<std::size_t>(at)];
    set_length(axis, scales, sizes, i);
    if (!roi.empty()) {
      axis.roi_start = roi[i];
      axis.roi_end = roi[listed.size() + i];
    }
  }
  const std::string policy = attributes.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    fail(ErrorCode::kInvalidFile, "Resize does not know the keep_aspect_ratio_policy '{}'", policy);
  if (!sizes.empty() && policy != "stretch") keep_aspect_ratio(axes, policy == "not_larger");
  return axes;
}

std::vector<ResizeTap> resize_taps(const Attributes& attributes, const ResizeAxis& axis) {
  const std::string mode = attributes.text("mode", "nearest");
  const bool nearest = mode == "nearest";
  const bool crops = attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  const bool exclude_outside = attributes.integer("exclude_outside", 0) != 0;
  const float shrink = attributes.integer("antialias", 0) != 0 ? std::min(axis.scale, 1.0F) : 1.0F;
  const Transform transform = transform_of(attributes, axis);
  const Rounding rounding = rounding_of(attributes);
  const Filter filter = nearest ? Filter{} : filter_of(attributes, mode);
  const auto last = static_cast<float>(axis.in - 1);
  std::vector<ResizeTap> taps;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const float center = transform(static_cast<float>(i));
    const bool outside = crops && !(center >= 0 && center <= last);
    if (nearest || outside) {
      const auto at = static_cast<std::int64_t>(outside ? 0.0F : std::clamp(rounding(center), 0.0F, last));
      taps.push_back({std::min(at, axis.in - 1), {1.0F}, outside});
    } else {
      taps.push_back(interpolate(filter, center, shrink, axis.in, exclude_outside));
    }
  }
  return taps;
}

}  // namespace saccade
