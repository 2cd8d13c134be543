#include "cpu/kernels/sample_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/sample_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

void combine(const float* src, const std::int64_t* offsets, const float* weights, std::size_t taps, float* dst,
             std::size_t count, bool add) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Float sum = add ? hn::LoadU(d, dst + i) : hn::Zero(d);
    for (std::size_t t = 0; t < taps; ++t)
      sum = hn::MulAdd(hn::Set(d, weights[t]), hn::LoadU(d, src + offsets[t] + i), sum);
    hn::StoreU(sum, d, dst + i);
  }
  if (i == count) return;
  Float sum = add ? load_tail(d, dst + i, count - i) : hn::Zero(d);
  for (std::size_t t = 0; t < taps; ++t)
    sum = hn::MulAdd(hn::Set(d, weights[t]), load_tail(d, src + offsets[t] + i, count - i), sum);
  store_tail(d, sum, dst + i, count - i);
}

/// Calls VECTOR(from, to) for full vectors, and once for a padded copy of the rest.
template <typename From, typename To, typename Vector>
HWY_INLINE void convert_row(const From* src, To* dst, std::size_t count, const Vector& vector) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) vector(src + i, dst + i);
  if (i == count) return;
  constexpr std::size_t kMost = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN From from[kMost] = {};
  HWY_ALIGN To to[kMost];
  std::memcpy(from, src + i, (count - i) * sizeof(From));
  vector(from, to);
  std::memcpy(dst + i, to, (count - i) * sizeof(To));
}

template <typename Stored>
void quantize(const float* src, float scale, float zero_point, Stored* dst, std::size_t count) {
  const FloatTag d;
  const hn::Rebind<Stored, FloatTag> narrow;
  const hn::Rebind<std::int32_t, FloatTag> integer;
  const Float divisor = hn::Set(d, scale);
  const Float shift = hn::Set(d, zero_point);
  const Float low = hn::Set(d, static_cast<float>(std::numeric_limits<Stored>::lowest()));
  const Float high = hn::Set(d, static_cast<float>(std::numeric_limits<Stored>::max()));
  convert_row(src, dst, count, [&](const float* from, Stored* to) {
    const Float moved = hn::Add(hn::Round(hn::Div(hn::LoadU(d, from), divisor)), shift);
    // NaN first: x86's maximum returns its second operand then.
    const Float bounded = hn::Min(hn::Max(moved, low), high);
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(integer, bounded)), narrow, to);
  });
}

template <typename Stored>
void dequantize(const Stored* src, float scale, float zero_point, float* dst, std::size_t count) {
  const FloatTag d;
  const hn::Rebind<Stored, FloatTag> narrow;
  const hn::Rebind<std::int32_t, FloatTag> integer;
  const Float factor = hn::Set(d, scale);
  const Float shift = hn::Set(d, zero_point);
  convert_row(src, dst, count, [&](const Stored* from, float* to) {
    const Float value = hn::ConvertTo(d, hn::PromoteTo(integer, hn::LoadU(narrow, from)));
    hn::StoreU(hn::Mul(hn::Sub(value, shift), factor), d, to);
  });
}

const SampleKernels& kernels() {
  static constexpr SampleKernels kKernels{combine, quantize<std::uint8_t>, quantize<std::int8_t>,
                                          dequantize<std::uint8_t>, dequantize<std::int8_t>};
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

const SampleKernels& sample_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
