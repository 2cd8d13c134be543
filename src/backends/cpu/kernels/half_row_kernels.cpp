#include "cpu/kernels/half_row_kernels.hpp"

#include "cpu/kernels/half_vectors_x86.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/half_row_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/half_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

/// VISIT(first element, elements) of each vector of a row.
template <typename Visit>
HWY_INLINE void for_vectors(std::size_t count, const Visit& visit) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) visit(i, lanes);
  if (i < count) visit(i, count - i);
}

HWY_INLINE Float load_halves(const std::uint16_t* src, std::size_t count) {
  return count == hn::Lanes(FloatTag()) ? load_half(src) : load_half_tail(src, count);
}

HWY_INLINE void store_halves(Float v, std::uint16_t* dst, std::size_t count) {
  if (count == hn::Lanes(FloatTag())) return hn::StoreU(quiet_to_half(v), HalfTag(), dst);
  HWY_ALIGN std::uint16_t lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::StoreU(quiet_to_half(v), HalfTag(), lanes);
  std::memcpy(dst, lanes, count * sizeof(std::uint16_t));
}

/// The first COUNT lanes; OTHERWISE in the others.
HWY_INLINE Float among_first(Float v, std::size_t count, float otherwise) {
  const FloatTag d;
  return hn::IfThenElse(hn::FirstN(d, count), v, hn::Set(d, otherwise));
}

/// e^x; 0 below e^-87.
HWY_INLINE Float exponential(FloatTag d, Float x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0F)), quick_exp(d, x));
}

void softmax_row(const std::uint16_t* src, std::uint16_t* dst, std::size_t count) {
  const FloatTag d;
  const float lowest = -std::numeric_limits<float>::infinity();
  alignas(64) float row[kLongestHalfRow];
  Float most = hn::Set(d, lowest);
  for_vectors(count, [&](std::size_t i, std::size_t lanes) {
    most = greater(most, among_first(load_halves(src + i, lanes), lanes, lowest));
  });
  const float greatest = hn::GetLane(hn::MaxOfLanes(d, most));
  // A row of -infinity has no softmax. MaxOfLanes() may lose a NaN, but not the exponentials.
  const Float shift = hn::Set(d, greatest == lowest ? 0.0F : greatest);
  Float sum = hn::Zero(d);
  for_vectors(count, [&](std::size_t i, std::size_t lanes) {
    const Float e = exponential(d, hn::Sub(load_halves(src + i, lanes), shift));
    sum = hn::Add(sum, among_first(e, lanes, 0));
    hn::StoreU(e, d, row + i);
  });
  const Float factor = hn::Set(d, 1 / hn::GetLane(hn::SumOfLanes(d, sum)));
  for_vectors(count, [&](std::size_t i, std::size_t lanes) {
    store_halves(hn::Mul(hn::LoadU(d, row + i), factor), dst + i, lanes);
  });
}

void softmax(const std::uint16_t* src, std::uint16_t* dst, std::size_t rows, std::size_t count) {
  for (std::size_t row = 0; row < rows; ++row) softmax_row(src + row * count, dst + row * count, count);
}

float exponentials(const float* scores, std::size_t count, float scale, float shift, std::uint16_t* dst) {
  const FloatTag d;
  const Float factor = hn::Set(d, scale);
  const Float subtrahend = hn::Set(d, shift);
  Float sum = hn::Zero(d);
  for_vectors(count, [&](std::size_t i, std::size_t lanes) {
    const Float score = lanes == hn::Lanes(d) ? hn::LoadU(d, scores + i) : load_tail(d, scores + i, lanes);
    const Float e = exponential(d, hn::MulSub(score, factor, subtrahend));
    sum = hn::Add(sum, among_first(e, lanes, 0));
    store_halves(e, dst + i, lanes);
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void blend(const std::uint16_t* const* taps, const float* weights, std::size_t tap_count, std::uint16_t* dst,
           std::size_t count) {
  const FloatTag d;
  for_vectors(count, [&](std::size_t i, std::size_t lanes) {
    Float sum = hn::Mul(load_halves(taps[0] + i, lanes), hn::Set(d, weights[0]));
    for (std::size_t t = 1; t < tap_count; ++t)
      sum = hn::MulAdd(load_halves(taps[t] + i, lanes), hn::Set(d, weights[t]), sum);
    store_halves(sum, dst + i, lanes);
  });
}

const HalfRowKernels& kernels() {
  static constexpr HalfRowKernels kKernels{softmax, exponentials, blend};
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

const HalfRowKernels& half_row_kernels() {
  static const HalfRowKernels chosen = [] {
    HalfRowKernels own = HWY_DYNAMIC_DISPATCH(kernels)();
    if (const HalfExponentials exponentials = avx512_exponentials()) own.exponentials = exponentials;
    return own;
  }();
  return chosen;
}

}  // namespace saccade::cpu
#endif
