#include "cpu/kernels/pool_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/pool_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

// Up to four vectors of channels are in registers while all taps are streamed. x86's maximum loses a NaN at the next
// number; keeping it takes a mask and twice the time. Bound: bytes loaded from L1.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

template <std::size_t kVectors, bool kNan>
HWY_INLINE void max_vectors(const PoolWindows& from, std::size_t at, float* dst) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float best[kVectors];
  hn::Mask<FloatTag> none[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    best[v] = hn::LoadU(d, from.taps[0] + at + v * lanes);
    if constexpr (kNan) none[v] = hn::IsNaN(best[v]);
  }
  for (std::size_t k = 1; k < from.count; ++k) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Float x = hn::LoadU(d, from.taps[k] + at + v * lanes);
      best[v] = hn::Max(best[v], x);
      if constexpr (kNan) none[v] = hn::Or(none[v], hn::IsNaN(x));
    }
  }
  const Float nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t v = 0; v < kVectors; ++v) {
    if constexpr (kNan) best[v] = hn::IfThenElse(none[v], nan, best[v]);
    hn::StoreU(best[v], d, dst + v * lanes);
  }
}

template <bool kNan>
void window_max(const PoolWindows& from, float* dst) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t w = 0, at = 0; w < from.windows; ++w, at += from.stride, dst += from.out_stride) {
    std::size_t i = 0;
    for (; i + 4 * lanes <= from.length; i += 4 * lanes) max_vectors<4, kNan>(from, at + i, dst + i);
    for (; i + lanes <= from.length; i += lanes) max_vectors<1, kNan>(from, at + i, dst + i);
    if (i == from.length) continue;
    Float best = load_tail(d, from.taps[0] + at + i, from.length - i);
    for (std::size_t k = 1; k < from.count; ++k)
      best = greater(best, load_tail(d, from.taps[k] + at + i, from.length - i));
    store_tail(d, best, dst + i, from.length - i);
  }
}

const PoolKernels& kernels() {
  static constexpr PoolKernels kKernels{window_max<false>, window_max<true>};
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

const PoolKernels& pool_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
