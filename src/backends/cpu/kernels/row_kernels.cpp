#include "cpu/kernels/row_kernels.hpp"

#include <cmath>

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/row_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// Calls visit(offset, vector) for every full vector of a row, then tail(offset, remaining lanes).
template <typename Visit, typename Tail>
HWY_INLINE void for_each_vector(const float* src, std::size_t count, const Visit& visit, const Tail& tail) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) visit(i, hn::LoadU(d, src + i));
  if (i < count) tail(i, count - i);
}

/// The maximum of a row with a NaN is arbitrary; the exponentials propagate the NaN.
float row_max(const float* src, std::size_t count) {
  const FloatTag d;
  Float best = hn::Set(d, kLowest);
  for_each_vector(
      src, count, [&](std::size_t, Float v) { best = hn::Max(best, v); },
      [&](std::size_t i, std::size_t left) {
        const Float v = load_tail(d, src + i, left);
        best = hn::Max(best, hn::IfThenElse(hn::FirstN(d, left), v, best));
      });
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// Sum of f(v); stores f(v) to DST unless that is null.
template <typename F>
HWY_INLINE float row_sum(const float* src, float* dst, std::size_t count, const F& f) {
  const FloatTag d;
  Float sum = hn::Zero(d);
  for_each_vector(
      src, count,
      [&](std::size_t i, Float v) {
        const Float y = f(v);
        if (dst != nullptr) hn::StoreU(y, d, dst + i);
        sum = hn::Add(sum, y);
      },
      [&](std::size_t i, std::size_t left) {
        const Float y = f(load_tail(d, src + i, left));
        if (dst != nullptr) store_tail(d, y, dst + i, left);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, left), y));
      });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// dst = f(src) per element.
template <typename F>
HWY_INLINE void row_map(const float* src, float* dst, std::size_t count, const F& f) {
  const FloatTag d;
  for_each_vector(
      src, count, [&](std::size_t i, Float v) { hn::StoreU(f(i, v, hn::Lanes(d)), d, dst + i); },
      [&](std::size_t i, std::size_t left) { store_tail(d, f(i, load_tail(d, src + i, left), left), dst + i, left); });
}

void softmax_row(const float* src, float* dst, std::size_t count, bool log) {
  const FloatTag d;
  const Float highest = hn::Set(d, row_max(src, count));
  const auto exponential = [&](Float v) { return exp(d, hn::Sub(v, highest)); };
  const float sum = row_sum(src, log ? nullptr : dst, count, exponential);
  if (log) {
    const Float shift = hn::Set(d, std::log(sum));
    row_map(src, dst, count, [&](std::size_t, Float v, std::size_t) { return hn::Sub(hn::Sub(v, highest), shift); });
  } else {
    const Float factor = hn::Set(d, 1 / sum);
    row_map(dst, dst, count, [&](std::size_t, Float v, std::size_t) { return hn::Mul(v, factor); });
  }
}

float exp_row(float* row, std::size_t count, float shift) {
  const FloatTag d;
  const Float subtracted = hn::Set(d, shift);
  return row_sum(row, row, count, [&](Float v) { return exp(d, hn::Sub(v, subtracted)); });
}

/// The first LANES of a vector at P.
HWY_INLINE Float load_lanes(const float* p, std::size_t lanes) {
  const FloatTag d;
  return lanes == hn::Lanes(d) ? hn::LoadU(d, p) : load_tail(d, p, lanes);
}
HWY_INLINE void store_lanes(Float v, float* p, std::size_t lanes) {
  const FloatTag d;
  lanes == hn::Lanes(d) ? hn::StoreU(v, d, p) : store_tail(d, v, p, lanes);
}

/// One vector of adjacent columns, of which LANES are used.
HWY_INLINE void softmax_vector(const float* src, float* dst, std::size_t count, std::size_t stride, std::size_t lanes,
                               bool log) {
  const FloatTag d;
  Float highest = hn::Set(d, kLowest);
  for (std::size_t i = 0; i < count; ++i) highest = hn::Max(highest, load_lanes(src + i * stride, lanes));
  Float sum = hn::Zero(d);
  for (std::size_t i = 0; i < count; ++i) {
    const Float y = exp(d, hn::Sub(load_lanes(src + i * stride, lanes), highest));
    if (!log) store_lanes(y, dst + i * stride, lanes);
    sum = hn::Add(sum, y);
  }
  const Float scale = log ? HWY_NAMESPACE::log(d, sum) : hn::Div(hn::Set(d, 1.0F), sum);
  for (std::size_t i = 0; i < count; ++i) {
    const Float y = log ? hn::Sub(hn::Sub(load_lanes(src + i * stride, lanes), highest), scale)
                        : hn::Mul(load_lanes(dst + i * stride, lanes), scale);
    store_lanes(y, dst + i * stride, lanes);
  }
}

void softmax_columns(const float* src, float* dst, std::size_t count, std::size_t stride, std::size_t columns,
                     bool log) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  for (std::size_t j = 0; j < columns; j += lanes)
    softmax_vector(src + j, dst + j, count, stride, HWY_MIN(lanes, columns - j), log);
}

void layer_norm_row(const float* src, float* dst, std::size_t count, const float* scale, const float* bias,
                    float epsilon) {
  const FloatTag d;
  const auto size = static_cast<float>(count);
  const float mean = row_sum(src, nullptr, count, [](Float v) { return v; }) / size;
  const Float center = hn::Set(d, mean);
  const float variance = row_sum(src, nullptr, count,
                                 [&](Float v) {
                                   const Float distance = hn::Sub(v, center);
                                   return hn::Mul(distance, distance);
                                 }) /
                         size;
  const Float factor = hn::Set(d, 1 / std::sqrt(variance + epsilon));
  row_map(src, dst, count, [&](std::size_t i, Float v, std::size_t lanes) {
    const Float normal = hn::Mul(hn::Mul(hn::Sub(v, center), factor), load_lanes(scale + i, lanes));
    return bias == nullptr ? normal : hn::Add(normal, load_lanes(bias + i, lanes));
  });
}

// Reductions: initial value, accumulation, and final step.
struct Sum {
  static constexpr float kStart = 0;
  static HWY_INLINE Float add(Float sum, Float v) { return hn::Add(sum, v); }
};
struct Max {
  static constexpr float kStart = kLowest;
  static HWY_INLINE Float add(Float best, Float v) { return greater(best, v); }
};
struct Min {
  static constexpr float kStart = -kLowest;
  static HWY_INLINE Float add(Float best, Float v) { return lesser(best, v); }
};
struct AbsoluteSum {
  static constexpr float kStart = 0;
  static HWY_INLINE Float add(Float sum, Float v) { return hn::Add(sum, hn::Abs(v)); }
};
struct SquareSum {
  static constexpr float kStart = 0;
  static HWY_INLINE Float add(Float sum, Float v) { return hn::MulAdd(v, v, sum); }
};

/// Four accumulators hide the latency of the addition.
template <typename Rule>
HWY_INLINE Float accumulate_row(const float* src, std::size_t count) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float sums[4] = {hn::Set(d, Rule::kStart), hn::Set(d, Rule::kStart), hn::Set(d, Rule::kStart),
                   hn::Set(d, Rule::kStart)};
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes)
    for (std::size_t k = 0; k < 4; ++k) sums[k] = Rule::add(sums[k], hn::LoadU(d, src + i + k * lanes));
  for (; i + lanes <= count; i += lanes) sums[0] = Rule::add(sums[0], hn::LoadU(d, src + i));
  if (i < count) {
    const Float more = Rule::add(sums[0], load_tail(d, src + i, count - i));
    sums[0] = hn::IfThenElse(hn::FirstN(d, count - i), more, sums[0]);
  }
  for (std::size_t k = 1; k < 4; ++k) {
    // Partial sums are added without taking magnitudes or squares again.
    if constexpr (Rule::kStart == 0)
      sums[0] = hn::Add(sums[0], sums[k]);
    else
      sums[0] = Rule::add(sums[0], sums[k]);
  }
  return sums[0];
}

void rms_norm_row(const float* src, float* dst, std::size_t count, const float* scale, float epsilon) {
  const FloatTag d;
  const float squares = hn::GetLane(hn::SumOfLanes(d, accumulate_row<SquareSum>(src, count)));
  const Float factor = hn::Set(d, 1 / std::sqrt(squares / static_cast<float>(count) + epsilon));
  row_map(src, dst, count, [&](std::size_t i, Float v, std::size_t lanes) {
    return hn::Mul(hn::Mul(v, factor), load_lanes(scale + i, lanes));
  });
}

/// The maximum or minimum over lanes; NaN if there is one.
template <typename Rule>
HWY_INLINE float extreme_of_lanes(Float lanes) {
  const FloatTag d;
  if (!hn::AllFalse(d, hn::IsNaN(lanes))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(std::is_same_v<Rule, Max> ? hn::MaxOfLanes(d, lanes) : hn::MinOfLanes(d, lanes));
}

/// The final step of reductions with the same accumulation.
float finish(Reduce reduce, float sum, std::size_t count) {
  if (reduce == Reduce::kMean) return sum / static_cast<float>(count);
  return reduce == Reduce::kL2 ? std::sqrt(sum) : sum;
}

float reduce_row(Reduce reduce, const float* src, std::size_t count) {
  const FloatTag d;
  switch (reduce) {
    case Reduce::kSum:
    case Reduce::kMean: return finish(reduce, hn::GetLane(hn::SumOfLanes(d, accumulate_row<Sum>(src, count))), count);
    case Reduce::kMax: return extreme_of_lanes<Max>(accumulate_row<Max>(src, count));
    case Reduce::kMin: return extreme_of_lanes<Min>(accumulate_row<Min>(src, count));
    case Reduce::kL1: return hn::GetLane(hn::SumOfLanes(d, accumulate_row<AbsoluteSum>(src, count)));
    case Reduce::kL2:
    case Reduce::kSumSquare:
      return finish(reduce, hn::GetLane(hn::SumOfLanes(d, accumulate_row<SquareSum>(src, count))), count);
  }
  return 0;
}

template <typename Rule>
void accumulate_columns(Reduce reduce, const float* src, std::size_t count, std::size_t stride, std::size_t columns,
                        float* dst) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Float share = hn::Set(d, 1.0F / static_cast<float>(count));
  for (std::size_t j = 0; j < columns; j += lanes) {
    const std::size_t width = HWY_MIN(lanes, columns - j);
    Float sum = hn::Set(d, Rule::kStart);
    if (width == lanes) {
      for (std::size_t i = 0; i < count; ++i) sum = Rule::add(sum, hn::LoadU(d, src + i * stride + j));
    } else {
      for (std::size_t i = 0; i < count; ++i) sum = Rule::add(sum, load_tail(d, src + i * stride + j, width));
    }
    if (reduce == Reduce::kMean) sum = hn::Mul(sum, share);
    if (reduce == Reduce::kL2) sum = hn::Sqrt(sum);
    store_tail(d, sum, dst + j, width);
  }
}

void reduce_columns(Reduce reduce, const float* src, std::size_t count, std::size_t stride, std::size_t columns,
                    float* dst) {
  switch (reduce) {
    case Reduce::kSum:
    case Reduce::kMean: return accumulate_columns<Sum>(reduce, src, count, stride, columns, dst);
    case Reduce::kMax: return accumulate_columns<Max>(reduce, src, count, stride, columns, dst);
    case Reduce::kMin: return accumulate_columns<Min>(reduce, src, count, stride, columns, dst);
    case Reduce::kL1: return accumulate_columns<AbsoluteSum>(reduce, src, count, stride, columns, dst);
    case Reduce::kL2:
    case Reduce::kSumSquare: return accumulate_columns<SquareSum>(reduce, src, count, stride, columns, dst);
  }
}

const RowKernels& kernels() {
  static constexpr RowKernels kKernels{softmax_row,  softmax_columns, exp_row,       layer_norm_row,
                                       rms_norm_row, reduce_row,      reduce_columns};
  return kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {
HWY_EXPORT(kernels);
}  // namespace

const RowKernels& row_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
