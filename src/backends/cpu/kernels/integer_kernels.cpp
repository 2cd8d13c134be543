#include "cpu/kernels/integer_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/integer_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

using WordTag = hn::Rebind<std::uint32_t, FloatTag>;
using Word = hn::Vec<WordTag>;

std::uint32_t sum(const std::uint8_t* src, std::size_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::ScalableTag<std::uint64_t> wide;
  const std::size_t lanes = hn::Lanes(d);
  auto sums = hn::Zero(wide);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(d, src + i)));
  auto total = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(wide, sums)));
  for (; i < count; ++i) total += src[i];
  return total;
}

void add(const std::int8_t* src, std::uint32_t* sums, std::size_t count) {
  const WordTag d;
  const hn::Rebind<std::int32_t, WordTag> integer;
  const hn::Rebind<std::int8_t, WordTag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Word value = hn::BitCast(d, hn::PromoteTo(integer, hn::LoadU(narrow, src + i)));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), value), d, sums + i);
  }
  for (; i < count; ++i) sums[i] += static_cast<std::uint32_t>(src[i]);
}

void correct(std::uint32_t* sums, const std::uint32_t* offsets, std::uint32_t row, const std::uint32_t* factors,
             std::size_t count) {
  const WordTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Word fixed = hn::Set(d, row);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Word moved = hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, offsets + i));
    hn::StoreU(hn::Add(moved, hn::Mul(fixed, hn::LoadU(d, factors + i))), d, sums + i);
  }
  for (; i < count; ++i) sums[i] += offsets[i] + row * factors[i];
}

template <typename Stored>
void requantize(const std::uint32_t* sums, const float* factors, float zero_point, Stored* dst, std::size_t count) {
  const FloatTag d;
  const hn::Rebind<Stored, FloatTag> narrow;
  const hn::Rebind<std::int32_t, FloatTag> integer;
  const Float shift = hn::Set(d, zero_point);
  const Float low = hn::Set(d, static_cast<float>(std::numeric_limits<Stored>::lowest()));
  const Float high = hn::Set(d, static_cast<float>(std::numeric_limits<Stored>::max()));
  const auto vector = [&](const std::uint32_t* from, const float* scale, Stored* to) {
    const Float value = hn::ConvertTo(d, hn::BitCast(integer, hn::LoadU(WordTag(), from)));
    const Float moved = hn::Add(hn::Round(hn::Mul(value, hn::LoadU(d, scale))), shift);
    // NaN first: x86's maximum returns its second operand then.
    const Float bounded = hn::Min(hn::Max(moved, low), high);
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(integer, bounded)), narrow, to);
  };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) vector(sums + i, factors + i, dst + i);
  if (i == count) return;
  constexpr std::size_t kMost = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN std::uint32_t from[kMost] = {};
  HWY_ALIGN float scale[kMost] = {};
  HWY_ALIGN Stored to[kMost];
  std::memcpy(from, sums + i, (count - i) * sizeof(std::uint32_t));
  std::memcpy(scale, factors + i, (count - i) * sizeof(float));
  vector(from, scale, to);
  std::memcpy(dst + i, to, (count - i) * sizeof(Stored));
}

void to_float(const std::int32_t* src, float* dst, std::size_t count) {
  const FloatTag d;
  const hn::Rebind<std::int32_t, FloatTag> integer;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::ConvertTo(d, hn::LoadU(integer, src + i)), d, dst + i);
  for (; i < count; ++i) dst[i] = static_cast<float>(src[i]);
}

void range(const float* src, std::size_t count, float& lowest, float& highest) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float low = hn::Set(d, lowest);
  Float high = hn::Set(d, highest);
  const auto widen = [&](Float value) {
    low = hn::IfThenElse(hn::Lt(value, low), value, low);
    high = hn::IfThenElse(hn::Gt(value, high), value, high);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) widen(hn::LoadU(d, src + i));
  lowest = hn::GetLane(hn::MinOfLanes(d, low));
  highest = hn::GetLane(hn::MaxOfLanes(d, high));
  for (; i < count; ++i) {
    lowest = src[i] < lowest ? src[i] : lowest;
    highest = src[i] > highest ? src[i] : highest;
  }
}

const IntegerKernels& kernels() {
  static constexpr IntegerKernels kKernels{sum,      add,  correct, requantize<std::uint8_t>, requantize<std::int8_t>,
                                           to_float, range};
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

const IntegerKernels& integer_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
