#include <algorithm>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/resize.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/values.hpp"
#include "tensor/numbers.hpp"

// Resize in every mode, one thread per output: a sum over the taps of every resized axis, which are computed at plan
// time as in the reference kernel. If the first input is a quotient or multiple of the output index, it is computed;
// otherwise it comes from a table with one entry per output.
namespace saccade::cuda {
namespace {

/// Whether every output equals its input: an axis may be resized to its own length.
bool is_identity(const AxisTaps& taps) {
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const ResizeTap& tap = taps[i];
    if (tap.outside) return false;
    for (std::size_t k = 0; k < tap.weights.size(); ++k)
      if (tap.weights[k] != (tap.first + static_cast<std::int64_t>(k) == static_cast<std::int64_t>(i) ? 1.0F : 0.0F))
        return false;
  }
  return true;
}

bool crops_region(const NodeContext& context) {
  return context.node.attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
}

}  // namespace

Support supports_resize(const NodeContext& context) {
  if (!context.node.is("Resize")) return Support::other_operator("not a Resize");
  for (int i = crops_region(context) ? 1 : 2; i < 4; ++i)
    if (context.has(i) && context.input(i).type.shape.elements() > 0 && context.constant(i) == nullptr)
      return Support::no("its scales or region are not constant");
  return {};
}

std::vector<AxisTaps> taps_of_axes(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  const auto floats = [&](int i) {
    std::vector<float> values;
    if (const Tensor* constant = context.constant(i))
      if (const auto numbers = numbers_of(*constant))
        for (const double value : *numbers) values.push_back(static_cast<float>(value));
    return values;
  };
  std::vector<std::int64_t> sizes;
  if (const Tensor* constant = context.constant(3)) sizes = integers_of(view_of(*constant));
  const auto axes = resize_axes(attributes, context.input(0).type.shape, floats(2), sizes,
                                crops_region(context) ? floats(1) : std::vector<float>{});
  std::vector<AxisTaps> taps;
  taps.reserve(axes.size());
  for (const ResizeAxis& axis : axes) {
    taps.push_back(axis.resized ? resize_taps(attributes, axis) : AxisTaps{});
    if (axis.in == axis.out && is_identity(taps.back())) taps.back().clear();
  }
  return taps;
}

std::size_t max_taps(const AxisTaps& taps) {
  std::size_t most = 1;
  for (const ResizeTap& tap : taps) most = std::max(most, tap.weights.size());
  return most;
}

std::vector<float> padded_weights(const AxisTaps& taps) {
  const std::size_t most = max_taps(taps);
  std::vector<float> table;
  for (const ResizeTap& tap : taps) {
    table.insert(table.end(), tap.weights.begin(), tap.weights.end());
    table.resize(table.size() + most - tap.weights.size(), 0.0F);
  }
  return table;
}

namespace {

/// Generates the taps along one axis.
class ResizedAxis {
 public:
  ResizedAxis(ElementCode& code, const AxisTaps& taps, std::string at)
      : code_(code), taps_(taps), at_(std::move(at)), max_taps_(max_taps(taps)) {
    std::vector<std::int32_t> first;
    for (const ResizeTap& tap : taps) {
      first.push_back(static_cast<std::int32_t>(tap.first));
      outside_ = outside_ || tap.outside;
    }
    first_ = taps.empty() ? at_ : code.let("int32", place_of_first(first));
    const auto is_copy = [](const ResizeTap& tap) { return tap.weights == std::vector<float>{1.0F}; };
    weighted_ = !std::ranges::all_of(taps, is_copy);
    if (weighted_) weights_ = code.table("float", padded_weights(taps));
  }

  bool weighted() const { return weighted_; }
  std::size_t count() const { return weighted_ ? max_taps_ : 1; }
  const std::string& first() const { return first_; }
  std::string weight(const std::string& tap) const {
    return fmt::format("{}[{} * {} + {}]", weights_, wrapped(at_), max_taps_, tap);
  }
  /// Condition that the output is outside of the input; empty if none is.
  std::string outside() {
    if (!outside_) return {};
    std::vector<std::uint8_t> flags;
    for (const ResizeTap& tap : taps_) flags.push_back(tap.outside ? 1 : 0);
    return fmt::format("{}[{}] != 0", code_.table("uint8", flags), at_);
  }

 private:
  std::string place_of_first(const std::vector<std::int32_t>& first) {
    const auto all = [&](const auto& rule) {
      for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i] != rule(static_cast<std::int32_t>(i))) return false;
      return true;
    };
    for (const int factor : {1, 2, 3, 4, 8, 16}) {
      if (all([&](std::int32_t i) { return i / factor; })) return fmt::format("{} / {}", wrapped(at_), factor);
      if (all([&](std::int32_t i) { return i * factor; })) return fmt::format("{} * {}", wrapped(at_), factor);
    }
    return fmt::format("{}[{}]", code_.table("int32", first), at_);
  }

  ElementCode& code_;
  const AxisTaps& taps_;
  std::string at_;
  std::string first_;
  std::string weights_;
  std::size_t max_taps_;
  bool weighted_ = false;
  bool outside_ = false;
};

/// Sum over the taps of AXES from I on, at index PLACE along the preceding axes.
std::string sum_over_axes(ElementCode& code, const std::vector<ResizedAxis>& axes, std::size_t i, Index& place,
                          std::string_view type) {
  while (i < axes.size() && !axes[i].weighted()) ++i;
  if (i == axes.size()) return fmt::format("{}({})", type, code.input(0, place));
  std::string sum = declare(code, type, "0");
  Braces braces(code);
  const std::string tap = braces.loop(static_cast<std::int64_t>(axes[i].count()));
  const std::string weight = code.let(type, axes[i].weight(tap));
  braces.when(weight + " != 0");  // missing taps are skipped: memory there may hold an infinity or be out of bounds
  place[i] = code.let("int32", axes[i].first() + " + " + tap);
  const std::string inner = sum_over_axes(code, axes, i + 1, place, type);
  code.line(fmt::format("{} += {} * {};", sum, weight, inner));
  return sum;
}

std::string resized(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const DType dtype = context.input(0).type.dtype;
  const std::vector<AxisTaps> taps = taps_of_axes(context);
  std::vector<ResizedAxis> axes;
  Index place;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    axes.emplace_back(code, taps[i], at[i]);
    place.push_back(axes.back().first());
  }
  const bool nearest = context.node.attributes.text("mode", "nearest") == "nearest";
  // 64-bit types are computed in float64, as in the reference kernel.
  const std::string_view type = bits_of(dtype) == 64 ? "double" : "float";
  std::string value =
      nearest ? code.input(0, place) : element_of(dtype, code.let(type, sum_over_axes(code, axes, 0, place, type)));
  if (!crops_region(context)) return value;
  std::string outside = "false";
  for (ResizedAxis& axis : axes)
    if (const std::string beyond = axis.outside(); !beyond.empty()) outside += " || " + beyond;
  const std::string other = element_of(dtype, literal(context.node.attributes.real("extrapolation_value", 0)));
  const std::string own(compute_name(dtype));
  return fmt::format("({} ? {}({}) : {}({}))", outside, own, other, own, value);
}

}  // namespace

std::unique_ptr<Tactic> resize(Device& device) { return element_tactic(device, {"resize", supports_resize, resized}); }

}  // namespace saccade::cuda
