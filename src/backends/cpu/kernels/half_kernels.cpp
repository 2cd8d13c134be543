#include "cpu/kernels/half_kernels.hpp"

#include <algorithm>

#include "cpu/kernels/half_vectors_x86.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/half_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/half_vectors-inl.hpp"

// Bound: bytes read and written / bandwidth.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

void widen(StridedRows<const std::uint16_t> src, StridedRows<float> dst, std::size_t rows, std::size_t columns) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  for (std::size_t row = 0; row < rows; ++row, src.first += src.stride, dst.first += dst.stride) {
    std::size_t i = 0;
    for (; i + lanes <= columns; i += lanes) hn::StoreU(load_half(src.first + i), FloatTag(), dst.first + i);
    if (i == columns) continue;
    store_tail(FloatTag(), load_half_tail(src.first + i, columns - i), dst.first + i, columns - i);
  }
}

void narrow(StridedRows<const float> src, StridedRows<std::uint16_t> dst, std::size_t rows, std::size_t columns) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  for (std::size_t row = 0; row < rows; ++row, src.first += src.stride, dst.first += dst.stride) {
    std::size_t i = 0;
    for (; i + lanes <= columns; i += lanes)
      hn::StoreU(to_half(hn::LoadU(FloatTag(), src.first + i)), HalfTag(), dst.first + i);
    if (i == columns) continue;
    HWY_ALIGN std::uint16_t rest[HWY_MAX_BYTES / sizeof(float)];
    hn::StoreU(to_half(load_tail(FloatTag(), src.first + i, columns - i)), HalfTag(), rest);
    std::memcpy(dst.first + i, rest, (columns - i) * sizeof(std::uint16_t));
  }
}

void pad_three(const std::uint16_t* src, std::size_t count, std::uint16_t* dst) {
  // Four elements at once, which the last pixel does not have.
  for (; count > 1; --count, src += 3, dst += 4) {
    std::uint64_t four = 0;
    std::memcpy(&four, src, sizeof(four));
    four &= ~std::uint64_t{0} >> 16;
    std::memcpy(dst, &four, sizeof(four));
  }
  if (count == 0) return;
  std::copy_n(src, 3, dst);
  dst[3] = 0;
}

const HalfKernels& kernels() {
  static constexpr HalfKernels kKernels{widen, narrow, narrow, pad_three};
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

const HalfKernels& half_kernels() {
  static const HalfKernels chosen = [] {
    HalfKernels own = HWY_DYNAMIC_DISPATCH(kernels)();
    if (const NarrowHalves narrow = avx512_narrow_results()) own.narrow_results = narrow;
    if (const PadThree pad = avx512_pad_three()) own.pad_three = pad;
    return own;
  }();
  return chosen;
}

}  // namespace saccade::cpu
#endif
