#include "cpu/kernels/pool_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/pool_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

// Some vectors of neighbours stay in registers while all rows pass. x86's maximum forgets a NaN at the next number:
// where there may be one a mask remembers it, which takes as long again. Bound: bytes read from the first-level cache.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

template <std::size_t kVectors, bool kNan>
HWY_INLINE void greatest_vectors(const float* const* from, std::size_t count, std::size_t at, float* dst) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float best[kVectors];
  hn::Mask<FloatTag> none[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    best[v] = hn::LoadU(d, from[0] + at + v * lanes);
    if constexpr (kNan) none[v] = hn::IsNaN(best[v]);
  }
  for (std::size_t k = 1; k < count; ++k) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Float x = hn::LoadU(d, from[k] + at + v * lanes);
      best[v] = hn::Max(best[v], x);
      if constexpr (kNan) none[v] = hn::Or(none[v], hn::IsNaN(x));
    }
  }
  const Float nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t v = 0; v < kVectors; ++v) {
    if constexpr (kNan) best[v] = hn::IfThenElse(none[v], nan, best[v]);
    hn::StoreU(best[v], d, dst + at + v * lanes);
  }
}

template <bool kNan>
void greatest(const float* const* from, std::size_t count, std::size_t length, float* dst) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= length; i += 4 * lanes) greatest_vectors<4, kNan>(from, count, i, dst);
  for (; i + lanes <= length; i += lanes) greatest_vectors<1, kNan>(from, count, i, dst);
  if (i == length) return;
  Float best = load_tail(d, from[0] + i, length - i);
  for (std::size_t k = 1; k < count; ++k) best = greater(best, load_tail(d, from[k] + i, length - i));
  store_tail(d, best, dst + i, length - i);
}

const PoolKernels& kernels() {
  static constexpr PoolKernels kKernels{greatest<false>, greatest<true>};
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
