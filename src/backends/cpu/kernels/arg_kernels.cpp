#include "cpu/kernels/arg_kernels.hpp"

#include <cmath>

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/arg_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

// Every lane keeps its best element and, in a second register, the index of it.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

using PlaceTag = hn::RebindToSigned<FloatTag>;
using Place = hn::Vec<PlaceTag>;

/// Whether x is preferred to y, regardless of index.
template <bool kGreatest>
HWY_INLINE bool beats(float x, float y) {
  return (kGreatest ? x > y : x < y) || (std::isnan(x) && !std::isnan(y));
}

template <bool kGreatest>
HWY_INLINE hn::Mask<FloatTag> beats(Float x, Float y) {
  const auto ahead = kGreatest ? hn::Gt(x, y) : hn::Lt(x, y);
  return hn::Or(ahead, hn::AndNot(hn::IsNaN(y), hn::IsNaN(x)));
}

template <bool kGreatest, bool kLast>
struct Champion {
  Float best;
  Place place;

  HWY_INLINE void meet(Float v, Place at) {
    const auto taken = kLast ? hn::Not(beats<kGreatest>(best, v)) : beats<kGreatest>(v, best);
    best = hn::IfThenElse(taken, v, best);
    place = hn::IfThenElse(hn::RebindMask(PlaceTag(), taken), at, place);
  }
};

template <bool kGreatest, bool kLast>
std::int64_t row_of(const float* src, std::size_t count) {
  const FloatTag d;
  const PlaceTag di;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t best = 0;
  // Among equal elements of different lanes, the index decides: the last or the first.
  const auto meet = [&](std::size_t at) {
    const bool ahead = beats<kGreatest>(src[at], src[best]);
    const bool equal = !ahead && !beats<kGreatest>(src[best], src[at]);
    if (ahead || (equal && (kLast ? at > best : at < best))) best = at;
  };
  std::size_t i = 0;
  if (count >= lanes) {
    Champion<kGreatest, kLast> champion{hn::LoadU(d, src), hn::Iota(di, 0)};
    for (i = lanes; i + lanes <= count; i += lanes)
      champion.meet(hn::LoadU(d, src + i), hn::Iota(di, static_cast<std::int32_t>(i)));
    HWY_ALIGN std::int32_t places[HWY_MAX_BYTES / sizeof(std::int32_t)];
    hn::Store(champion.place, di, places);
    best = static_cast<std::size_t>(places[0]);
    for (std::size_t k = 1; k < lanes; ++k) meet(static_cast<std::size_t>(places[k]));
  }
  for (; i < count; ++i) meet(i);
  return static_cast<std::int64_t>(best);
}

template <bool kGreatest, bool kLast>
void columns_of(const float* src, std::size_t count, std::size_t stride, std::size_t columns, std::int64_t* dst) {
  const FloatTag d;
  const PlaceTag di;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::int32_t places[HWY_MAX_BYTES / sizeof(std::int32_t)];
  for (std::size_t j = 0; j < columns; j += lanes) {
    const std::size_t width = HWY_MIN(lanes, columns - j);
    const auto at = [&](std::size_t i) HWY_ATTR {
      const float* p = src + i * stride + j;
      return width == lanes ? hn::LoadU(d, p) : load_tail(d, p, width);
    };
    Champion<kGreatest, kLast> champion{at(0), hn::Zero(di)};
    for (std::size_t i = 1; i < count; ++i) champion.meet(at(i), hn::Set(di, static_cast<std::int32_t>(i)));
    hn::Store(champion.place, di, places);
    for (std::size_t k = 0; k < width; ++k) dst[j + k] = places[k];
  }
}

std::int64_t row(ArgRule rule, const float* src, std::size_t count) {
  if (rule.greatest) return rule.last ? row_of<true, true>(src, count) : row_of<true, false>(src, count);
  return rule.last ? row_of<false, true>(src, count) : row_of<false, false>(src, count);
}

void columns(ArgRule rule, const float* src, std::size_t count, std::size_t stride, std::size_t columns,
             std::int64_t* dst) {
  if (rule.greatest)
    return rule.last ? columns_of<true, true>(src, count, stride, columns, dst)
                     : columns_of<true, false>(src, count, stride, columns, dst);
  return rule.last ? columns_of<false, true>(src, count, stride, columns, dst)
                   : columns_of<false, false>(src, count, stride, columns, dst);
}

const ArgKernels& kernels() {
  static constexpr ArgKernels kKernels{row, columns};
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

const ArgKernels& arg_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
