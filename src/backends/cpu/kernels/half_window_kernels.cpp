#include "cpu/kernels/half_window_kernels.hpp"

#include <algorithm>

#include "cpu/kernels/half_vectors_x86.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/half_window_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/half_vectors-inl.hpp"

// Bound: bytes read and written / bandwidth; in the cache two loads per multiply-add.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kVectors = HalfWindows::kColumns / hn::MaxLanes(FloatTag());

struct Sum {
  static HWY_INLINE Float first(const HalfWindows& from, std::size_t column, Float element) {
    return next(from, 0, column, hn::LoadU(FloatTag(), from.initial + column), element);
  }
  static HWY_INLINE Float next(const HalfWindows& from, std::size_t tap, std::size_t column, Float so_far,
                               Float element) {
    return hn::MulAdd(element, hn::LoadU(FloatTag(), from.weights + tap * HalfWindows::kColumns + column), so_far);
  }
};

struct Max {
  static HWY_INLINE Float first(const HalfWindows& /*from*/, std::size_t /*column*/, Float element) { return element; }
  static HWY_INLINE Float next(const HalfWindows& /*from*/, std::size_t /*tap*/, std::size_t /*column*/, Float so_far,
                               Float element) {
    return greater(so_far, element);
  }
};

/// The first VECTORS of kVectors vectors of window W, of which the last may be shorter.
template <typename Operation, typename Load>
HWY_INLINE void run_window(const HalfWindows& from, std::size_t w, std::size_t vectors, float* out, const Load& load) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  Float result[kVectors];
  for (std::size_t v = 0; v < vectors; ++v)
    result[v] = Operation::first(from, v * lanes, load(from.pixel(0, w), v * lanes));
  for (std::size_t tap = 1; tap < from.tap_count; ++tap)
    for (std::size_t v = 0; v < vectors; ++v)
      result[v] = Operation::next(from, tap, v * lanes, result[v], load(from.pixel(tap, w), v * lanes));
  for (std::size_t v = 0; v < vectors; ++v) hn::Store(result[v], FloatTag(), out + v * lanes);
}

/// Every window's VECTORS vectors, a constant after inlining.
template <typename Operation>
HWY_INLINE void run_whole(const HalfWindows& from, std::size_t vectors) {
  float* out = from.out;
  for (std::size_t w = 0; w < from.windows; ++w, out += HalfWindows::kColumns)
    run_window<Operation>(from, w, vectors, out,
                          [](const std::uint16_t* pixel, std::size_t column) { return load_half(pixel + column); });
}

template <typename Operation>
void run(const HalfWindows& from) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  const std::size_t vectors = (from.channels + lanes - 1) / lanes;
  if (from.whole && vectors == 1) return run_whole<Operation>(from, 1);
  if (from.whole && vectors == 2) return run_whole<Operation>(from, std::min<std::size_t>(2, kVectors));
  if (from.whole) return run_whole<Operation>(from, kVectors);
  float* out = from.out;
  for (std::size_t w = 0; w < from.windows; ++w, out += HalfWindows::kColumns)
    run_window<Operation>(from, w, vectors, out, [&](const std::uint16_t* pixel, std::size_t column) {
      return from.channels - column < lanes ? load_half_tail(pixel + column, from.channels - column)
                                            : load_half(pixel + column);
    });
}

const HalfWindowKernels& kernels() {
  static constexpr HalfWindowKernels kKernels{run<Sum>, run<Max>};
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

const HalfWindowKernels& half_window_kernels() {
  static const HalfWindowKernels chosen = [] {
    HalfWindowKernels own = HWY_DYNAMIC_DISPATCH(kernels)();
    if (const auto sum = avx512_window_sum()) {
      own.sum = sum;
      own.takes_pairs = true;
    }
    return own;
  }();
  return chosen;
}

}  // namespace saccade::cpu
#endif
