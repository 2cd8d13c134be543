#include "cpu/kernels/mask_kernels.hpp"

#include <cstring>
#include <limits>

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/mask_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

void weigh(const float* src, std::size_t stride, const float* weights, std::size_t terms, float* dst,
           std::size_t count) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Float sum = hn::Zero(d);
    for (std::size_t k = 0; k < terms; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[k]), hn::LoadU(d, src + k * stride + i)));
    hn::StoreU(sum, d, dst + i);
  }
  if (i == count) return;
  Float sum = hn::Zero(d);
  for (std::size_t k = 0; k < terms; ++k)
    sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[k]), load_tail(d, src + k * stride + i, count - i)));
  store_tail(d, sum, dst + i, count - i);
}

bool sample(const float* row, const std::int32_t* first, const std::int32_t* second, const float* share, float* dst,
            std::size_t count) {
  const FloatTag d;
  const hn::Rebind<std::int32_t, FloatTag> index;
  const Float one = hn::Set(d, 1.0F);
  const Float infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  auto is_sound = hn::Eq(one, one);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Float left = hn::GatherIndex(d, row, hn::LoadU(index, first + i));
    const Float right = hn::GatherIndex(d, row, hn::LoadU(index, second + i));
    const Float weight = hn::LoadU(d, share + i);
    is_sound = hn::And(is_sound, hn::And(hn::Lt(left, infinity), hn::Lt(right, infinity)));
    hn::StoreU(hn::Add(hn::Mul(left, hn::Sub(one, weight)), hn::Mul(right, weight)), d, dst + i);
  }
  return hn::AllTrue(d, is_sound);
}

void exceeding(const float* upper, const float* lower, float share, float threshold, std::uint64_t* bits,
               std::size_t count) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Float above = hn::Set(d, 1 - share);
  const Float below = hn::Set(d, share);
  const Float least = hn::Set(d, threshold);
  for (std::size_t i = 0; i < count; i += 64) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 64; j += lanes) {
      const Float value =
          hn::Add(hn::Mul(hn::LoadU(d, upper + i + j), above), hn::Mul(hn::LoadU(d, lower + i + j), below));
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Gt(value, least), bytes);
      std::uint64_t some = 0;
      std::memcpy(&some, bytes, sizeof some);
      word |= some << j;
    }
    bits[i / 64] = word;
  }
}

const MaskKernels& kernels() {
  static constexpr MaskKernels kKernels{weigh, sample, exceeding};
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

const MaskKernels& mask_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
