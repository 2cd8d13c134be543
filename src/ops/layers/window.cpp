#include "ops/layers/window.hpp"

#include <algorithm>

namespace saccade {
namespace {

/// Far above any real window, far below what could overflow.
constexpr std::int64_t kExtentLimit = std::int64_t{1} << 31;

/// Limit of (tap, output) pairs along one axis. Tables hold all of them, and no network comes near.
constexpr std::int64_t kMaxPairs = std::int64_t{1} << 24;

/// A list attribute with one entry per spatial axis, placed from axis KAXES - rank on.
Window::Axes per_axis(const Attributes& attributes, std::string_view name, int rank, std::int64_t otherwise,
                      std::int64_t lowest) {
  Window::Axes axes;
  axes.fill(otherwise);
  const auto values = attributes.integers(name);
  if (values.empty()) return axes;
  if (values.size() != static_cast<std::size_t>(rank))
    fail(ErrorCode::kInvalidFile, "'{}' has {} entries for {} spatial axes", name, values.size(), rank);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < lowest || values[i] >= kExtentLimit)
      fail(ErrorCode::kInvalidFile, "'{}' holds {}; it must be at least {}", name, values[i], lowest);
    axes[axes.size() - values.size() + i] = values[i];
  }
  return axes;
}

void read_pads(const Attributes& attributes, Window& window) {
  const auto pads = attributes.integers("pads");
  if (pads.empty()) return;
  const auto rank = static_cast<std::size_t>(window.rank);
  if (pads.size() != 2 * rank)
    fail(ErrorCode::kInvalidFile, "'pads' has {} entries for {} spatial axes", pads.size(), rank);
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || pads[i] >= kExtentLimit)
      fail(ErrorCode::kInvalidFile, "'pads' holds {}; a window's padding can't be negative", pads[i]);
    auto& side = i < rank ? window.pad_begin : window.pad_end;
    side[Window::kAxes - rank + i % rank] = pads[i];
  }
}

/// Everything but the padding and the output's lengths.
Window read_window(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel) {
  Window window;
  window.rank = input.rank() - 2;
  if (window.rank < 1 || window.rank > Window::kAxes)
    fail(ErrorCode::kUnsupported, "a window over an input of shape {} is not supported; it takes 1 to 3 spatial axes",
         input.to_string());
  if (kernel.size() != static_cast<std::size_t>(window.rank))
    fail(ErrorCode::kInvalidFile, "a kernel of {} axes can't slide over {}", kernel.size(), input.to_string());
  const int first = Window::kAxes - window.rank;
  for (int i = 0; i < window.rank; ++i) {
    const auto axis = static_cast<std::size_t>(first + i);
    window.in[axis] = input[2 + i];
    window.kernel[axis] = kernel[static_cast<std::size_t>(i)];
    if (window.in[axis] < 1 || window.in[axis] >= kExtentLimit || window.kernel[axis] < 1 ||
        window.kernel[axis] >= kExtentLimit)
      fail(ErrorCode::kInvalidFile, "a kernel of {} can't slide over {} elements", window.kernel[axis],
           window.in[axis]);
  }
  window.stride = per_axis(attributes, "strides", window.rank, 1, 1);
  window.dilation = per_axis(attributes, "dilations", window.rank, 1, 1);
  for (std::size_t axis = 0; axis < Window::kAxes; ++axis)
    if (window.extent(axis) >= kExtentLimit) fail(ErrorCode::kInvalidFile, "'dilations' spread the kernel too far");
  return window;
}

enum class WindowPadding { kExplicit, kValid, kSameUpper, kSameLower };

WindowPadding window_padding(const Attributes& attributes) {
  const std::string mode = attributes.text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return WindowPadding::kExplicit;
  if (mode == "VALID") return WindowPadding::kValid;
  if (mode == "SAME_UPPER") return WindowPadding::kSameUpper;
  if (mode == "SAME_LOWER") return WindowPadding::kSameLower;
  fail(ErrorCode::kInvalidFile, "auto_pad is '{}', which ONNX does not know", mode);
}

/// Splits TOTAL padding: the odd element goes to the end (SAME_UPPER) or to the beginning.
void split_padding(Window& window, std::size_t axis, std::int64_t total, bool odd_at_end) {
  total = std::max<std::int64_t>(total, 0);
  window.pad_begin[axis] = odd_at_end ? total / 2 : total - total / 2;
  window.pad_end[axis] = total - window.pad_begin[axis];
}

void check_pairs(const Window& window, std::size_t axis) {
  if (window.out[axis] > kMaxPairs / window.kernel[axis])
    fail(ErrorCode::kUnsupported, "a kernel of {} at {} places along one axis is not supported", window.kernel[axis],
         window.out[axis]);
}

void slide_axis(Window& window, std::size_t axis, bool ceil_mode) {
  const std::int64_t room = window.in[axis] + window.pad_begin[axis] + window.pad_end[axis] - window.extent(axis);
  if (room < 0)
    fail(ErrorCode::kInvalidFile, "a window of {} does not fit into {} elements and {} of padding", window.extent(axis),
         window.in[axis], window.pad_begin[axis] + window.pad_end[axis]);
  const std::int64_t stride = window.stride[axis];
  std::int64_t& out = window.out[axis];
  out = (ceil_mode ? room + stride - 1 : room) / stride + 1;
  // A last window that would start in the end padding is dropped.
  if (ceil_mode && (out - 1) * stride >= window.in[axis] + window.pad_begin[axis]) --out;
  check_pairs(window, axis);
}

/// One axis of a transposed window; WANTED is its output length, or 0 if the padding determines it.
void slide_transposed_axis(Window& window, std::size_t axis, std::int64_t extra, std::int64_t wanted, bool odd_at_end) {
  const std::int64_t full = window.stride[axis] * (window.in[axis] - 1) + window.extent(axis) + extra;
  if (wanted > 0) {
    split_padding(window, axis, full - wanted, odd_at_end);
    window.out[axis] = wanted;
  } else {
    window.out[axis] = full - window.pad_begin[axis] - window.pad_end[axis];
  }
  if (window.out[axis] < 1)
    fail(ErrorCode::kInvalidFile, "padding of {} leaves nothing of {} outputs",
         window.pad_begin[axis] + window.pad_end[axis], full);
  check_pairs(window, axis);
}

}  // namespace

Shape Window::output_shape(std::int64_t batch, std::int64_t channels) const {
  Shape shape{batch, channels};
  for (int axis = kAxes - rank; axis < kAxes; ++axis) shape.push_back(out[static_cast<std::size_t>(axis)]);
  return shape;
}

std::vector<std::int64_t> kernel_of(const Attributes& attributes, const Shape& weights) {
  std::vector<std::int64_t> kernel;
  for (int i = 2; i < weights.rank(); ++i) kernel.push_back(weights[i]);
  const auto stated = attributes.integers("kernel_shape");
  if (!stated.empty() && stated != kernel)
    fail(ErrorCode::kInvalidFile, "kernel_shape [{}] is not that of the weights, {}", fmt::join(stated, ", "),
         weights.to_string());
  return kernel;
}

Window slide(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel) {
  Window window = read_window(attributes, input, kernel);
  const WindowPadding padding = window_padding(attributes);
  if (padding == WindowPadding::kExplicit) read_pads(attributes, window);
  const bool ceil_mode = attributes.integer("ceil_mode", 0) != 0;
  for (std::size_t axis = 0; axis < Window::kAxes; ++axis) {
    if (padding == WindowPadding::kSameUpper || padding == WindowPadding::kSameLower) {
      const std::int64_t out = (window.in[axis] + window.stride[axis] - 1) / window.stride[axis];
      split_padding(window, axis, (out - 1) * window.stride[axis] + window.extent(axis) - window.in[axis],
                    padding == WindowPadding::kSameUpper);
    }
    slide_axis(window, axis, ceil_mode);
  }
  return window;
}

Window slide_transposed(const Attributes& attributes, const Shape& input, const std::vector<std::int64_t>& kernel) {
  Window window = read_window(attributes, input, kernel);
  const WindowPadding padding = window_padding(attributes);
  if (padding == WindowPadding::kExplicit) read_pads(attributes, window);
  const Window::Axes extra = per_axis(attributes, "output_padding", window.rank, 0, 0);
  auto lengths = attributes.integers("output_shape");
  // Some exporters write the whole shape, including batch and channels.
  if (lengths.size() == static_cast<std::size_t>(window.rank) + 2) lengths.erase(lengths.begin(), lengths.begin() + 2);
  Attributes spatial;
  spatial.set("output_shape", lengths);
  const Window::Axes wanted = per_axis(spatial, "output_shape", window.rank, 0, 1);
  const bool same = padding == WindowPadding::kSameUpper || padding == WindowPadding::kSameLower;
  for (std::size_t axis = 0; axis < Window::kAxes; ++axis) {
    const std::int64_t length = wanted[axis] == 0 && same ? window.in[axis] * window.stride[axis] : wanted[axis];
    slide_transposed_axis(window, axis, extra[axis], length, padding == WindowPadding::kSameUpper);
  }
  return window;
}

Taps::Taps(const Window& window, std::size_t axis, bool transposed)
    : outputs_(window.out[axis]), index_(static_cast<std::size_t>(window.kernel[axis] * window.out[axis])) {
  auto next = index_.begin();
  for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    for (std::int64_t out = 0; out < outputs_; ++out) {
      std::int64_t at = 0;
      bool hit = true;
      if (transposed) {
        at = out + window.pad_begin[axis] - tap * window.dilation[axis];
        hit = at % window.stride[axis] == 0;
        at /= window.stride[axis];
      } else {
        at = out * window.stride[axis] - window.pad_begin[axis] + tap * window.dilation[axis];
      }
      *next++ = hit && at >= 0 && at < window.in[axis] ? at : -1;
    }
  }
}

std::array<Taps, Window::kAxes> taps_of(const Window& window, bool transposed) {
  return {Taps(window, 0, transposed), Taps(window, 1, transposed), Taps(window, 2, transposed)};
}

}  // namespace saccade
