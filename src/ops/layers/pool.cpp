#include <cmath>
#include <limits>

#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/layers/window.hpp"

// MaxPool, AveragePool, LpPool, and their global forms. Inputs X (N, C, spatial). Averages are accumulated in float64.
// NaN is greater than all numbers: a window that contains NaN yields the first one.
namespace saccade {
namespace {

Window pool_window(const Attributes& attributes, const Shape& input) {
  const auto kernel = attributes.integers("kernel_shape");
  if (kernel.empty()) fail(ErrorCode::kInvalidFile, "a pool needs the attribute 'kernel_shape'");
  const Window window = slide(attributes, input, kernel);
  for (std::size_t axis = 0; axis < Window::kAxes; ++axis)
    if (std::max(window.pad_begin[axis], window.pad_end[axis]) >= window.extent(axis))
      fail(ErrorCode::kInvalidFile, "a pool's padding ({}, {}) must be smaller than its window of {}",
           window.pad_begin[axis], window.pad_end[axis], window.extent(axis));
  return window;
}

void infer_max_pool(InferContext& context) {
  require_type<float, double, Float16, BFloat16, std::int8_t, std::uint8_t>(context.dtype(0), "an input");
  const Shape& input = context.shape(0);
  const Shape output = pool_window(context.attributes(), input).output_shape(input[0], input[1]);
  context.output(0, context.dtype(0), output);
  if (context.output_count() > 1) context.output(1, DType::kInt64, output);
}

void infer_average_pool(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const Shape& input = context.shape(0);
  context.output(0, context.dtype(0), pool_window(context.attributes(), input).output_shape(input[0], input[1]));
}

/// Calls visit(i) for the position (in its plane) of every input element in the window of output (z, y, x).
template <typename Visit>
void for_each_seen(const Window& window, const std::array<Taps, Window::kAxes>& taps, std::int64_t z, std::int64_t y,
                   std::int64_t x, const Visit& visit) {
  for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
    const std::int64_t depth = taps[0].of(i)[z];
    if (depth < 0) continue;
    for (std::int64_t j = 0; j < window.kernel[1]; ++j) {
      const std::int64_t height = taps[1].of(j)[y];
      if (height < 0) continue;
      const std::int64_t row = (depth * window.in[1] + height) * window.in[2];
      for (std::int64_t k = 0; k < window.kernel[2]; ++k)
        if (const std::int64_t width = taps[2].of(k)[x]; width >= 0) visit(row + width);
    }
  }
}

/// Calls visit(output index in the plane, z, y, x) for every output.
template <typename Visit>
void for_each_output(const Window& window, const Visit& visit) {
  std::int64_t index = 0;
  for (std::int64_t z = 0; z < window.out[0]; ++z)
    for (std::int64_t y = 0; y < window.out[1]; ++y)
      for (std::int64_t x = 0; x < window.out[2]; ++x) visit(index++, z, y, x);
}

/// The column-major position of element I of a plane.
std::int64_t by_columns(const Window& window, std::int64_t i) {
  const std::int64_t line = i / window.in[2];
  return line / window.in[1] + window.in[0] * (line % window.in[1] + window.in[1] * (i % window.in[2]));
}

template <typename T>
void max_pool(const KernelContext& context, const Window& window) {
  const auto input = context.in<T>(0);
  if (input.empty()) return;
  const auto taps = taps_of(window);
  T* values = context.out<T>().data();
  const bool columns = context.attributes().integer("storage_order", 0) != 0;
  std::int64_t* indices = context.wants(1) ? context.out<std::int64_t>(1).data() : nullptr;
  for (std::int64_t plane = 0; plane * window.inputs() < std::ssize(input); ++plane) {
    const T* from = input.data() + plane * window.inputs();
    for_each_output(window, [&](std::int64_t output, std::int64_t z, std::int64_t y, std::int64_t x) {
      std::int64_t best = -1;
      for_each_seen(window, taps, z, y, x, [&](std::int64_t i) {
        if (best < 0 || is_above(from[i], from[best])) best = i;
      });
      // All taps of a dilated window may be in the padding.
      const std::int64_t at = plane * window.outputs() + output;
      values[at] = best < 0 ? static_cast<T>(std::numeric_limits<Accumulator<T>>::lowest()) : from[best];
      if (indices == nullptr) return;
      indices[at] = best < 0 ? -1 : plane * window.inputs() + (columns ? by_columns(window, best) : best);
    });
  }
}

void reference_max_pool(const KernelContext& context) {
  const Window window = pool_window(context.attributes(), context.input(0).shape);
  with_type<float, double, Float16, BFloat16, std::int8_t, std::uint8_t>(
      context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { max_pool<T>(context, window); });
}

/// The number of taps of each output in the input or its explicit padding: the overhang of a window under ceil_mode
/// does not count.
std::vector<std::int64_t> padded_counts(const Window& window, std::size_t axis) {
  std::vector<std::int64_t> counts;
  const std::int64_t end = window.in[axis] + window.pad_end[axis];
  for (std::int64_t out = 0; out < window.out[axis]; ++out) {
    const std::int64_t first = out * window.stride[axis] - window.pad_begin[axis];
    counts.push_back(std::min(window.kernel[axis], (end - first - 1) / window.dilation[axis] + 1));
  }
  return counts;
}

template <typename T>
void average_pool(const KernelContext& context, const Window& window, bool count_padding) {
  const auto input = context.in<T>(0);
  if (input.empty()) return;
  const auto taps = taps_of(window);
  const std::array counts = {padded_counts(window, 0), padded_counts(window, 1), padded_counts(window, 2)};
  const auto count_at = [&](std::size_t axis, std::int64_t out) { return counts[axis][static_cast<std::size_t>(out)]; };
  T* values = context.out<T>().data();
  for (std::int64_t plane = 0; plane * window.inputs() < std::ssize(input); ++plane) {
    const T* from = input.data() + plane * window.inputs();
    for_each_output(window, [&](std::int64_t output, std::int64_t z, std::int64_t y, std::int64_t x) {
      double sum = 0;
      std::int64_t seen = 0;
      for_each_seen(window, taps, z, y, x, [&](std::int64_t i) {
        sum += static_cast<double>(from[i]);
        ++seen;
      });
      const std::int64_t count = count_padding ? count_at(0, z) * count_at(1, y) * count_at(2, x) : seen;
      const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
      values[plane * window.outputs() + output] = static_cast<T>(static_cast<Accumulator<T>>(mean));
    });
  }
}

void reference_average_pool(const KernelContext& context) {
  const Window window = pool_window(context.attributes(), context.input(0).shape);
  const bool count_padding = context.attributes().integer("count_include_pad", 0) != 0;
  with_float(context.input(0).dtype,
             [&]<typename T>(std::type_identity<T>) { average_pool<T>(context, window, count_padding); });
}

/// The attribute "p" of LpPool.
double norm_of(const Attributes& attributes) {
  const std::int64_t p = attributes.integer("p", 2);
  if (p < 1) fail(ErrorCode::kInvalidFile, "a pool can't take the norm of order {}", p);
  return static_cast<double>(p);
}

void infer_lp_pool(InferContext& context) {
  norm_of(context.attributes());
  infer_average_pool(context);
}

void reference_lp_pool(const KernelContext& context) {
  const Window window = pool_window(context.attributes(), context.input(0).shape);
  const double p = norm_of(context.attributes());
  const auto taps = taps_of(window);
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const T* from = context.in<T>(0).data();
    for (auto to = context.out<T>(); !to.empty(); to = to.subspan(static_cast<std::size_t>(window.outputs()))) {
      for_each_output(window, [&](std::int64_t output, std::int64_t z, std::int64_t y, std::int64_t x) {
        double sum = 0;
        for_each_seen(window, taps, z, y, x,
                      [&](std::int64_t i) { sum += std::pow(std::abs(static_cast<double>(from[i])), p); });
        to[static_cast<std::size_t>(output)] = static_cast<T>(static_cast<Accumulator<T>>(std::pow(sum, 1 / p)));
      });
      from += window.inputs();
    }
  });
}

void infer_global_pool(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const Shape& input = context.shape(0);
  if (input.rank() < 2) fail(ErrorCode::kInvalidFile, "{} has no channels to pool", input.to_string());
  Shape output = Shape::filled(input.rank(), 1);
  output[0] = input[0];
  output[1] = input[1];
  for (int i = 2; i < input.rank(); ++i)
    if (input[i] == 0) fail(ErrorCode::kInvalidFile, "{} has nothing to pool", input.to_string());
  context.output(0, context.dtype(0), output);
}

/// Reduces every channel's plane with FOLD.
template <typename Fold>
void fold_planes(const KernelContext& context, const Fold& fold) {
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto input = context.in<T>(0);
    const auto output = context.out<T>();
    if (output.empty()) return;
    const std::size_t plane = input.size() / output.size();
    for (std::size_t i = 0; i < output.size(); ++i) output[i] = fold(input.subspan(i * plane, plane));
  });
}

void reference_global_average_pool(const KernelContext& context) {
  fold_planes(context, []<typename T>(std::span<const T> plane) {
    double sum = 0;
    for (const T value : plane) sum += static_cast<double>(value);
    return static_cast<T>(static_cast<Accumulator<T>>(sum / static_cast<double>(plane.size())));
  });
}

void reference_global_max_pool(const KernelContext& context) {
  fold_planes(context, []<typename T>(std::span<const T> plane) {
    T best = plane.front();
    for (const T value : plane) best = is_above(value, best) ? value : best;
    return best;
  });
}

void infer_global_lp_pool(InferContext& context) {
  norm_of(context.attributes());
  infer_global_pool(context);
}

void reference_global_lp_pool(const KernelContext& context) {
  const double p = norm_of(context.attributes());
  fold_planes(context, [p]<typename T>(std::span<const T> plane) {
    double sum = 0;
    for (const T value : plane) sum += std::pow(std::abs(static_cast<double>(value)), p);
    return static_cast<T>(static_cast<Accumulator<T>>(std::pow(sum, 1 / p)));
  });
}

constexpr OpTraits kAveragePoolTraits{.float_inputs = 1, .cost = {.per = CostPer::kInput}};

constexpr Op kPoolOps[] = {
    {"", "MaxPool", infer_max_pool, reference_max_pool, {.float_inputs = 1, .cost = {.per = CostPer::kInput}}},
    {"", "AveragePool", infer_average_pool, reference_average_pool, kAveragePoolTraits},
    {"", "LpPool", infer_lp_pool, reference_lp_pool, {.cost = {.per = CostPer::kInput}}},
    {"", "GlobalLpPool", infer_global_lp_pool, reference_global_lp_pool, {.cost = {.per = CostPer::kInput}}},
    {"", "GlobalAveragePool", infer_global_pool, reference_global_average_pool, kAveragePoolTraits},
    {"", "GlobalMaxPool", infer_global_pool, reference_global_max_pool, kAveragePoolTraits},
};

}  // namespace

std::span<const Op> pool_ops() { return kPoolOps; }

}  // namespace saccade
