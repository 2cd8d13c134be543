#include "cpu/kernels/norm_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/norm_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

// Mean and variance in one pass over memory, without the cancellation of E[x^2] - E[x]^2.
//
// The sums are of x - shift. The exact mean as shift is the two-pass method, which reads all elements twice. The mean
// of an eighth of the elements suffices: if the mean of m of n elements differs from the mean of all by D, then n *
// variance >= m * D^2, so that D^2 <= 8 * variance, and squares - sum^2 / n loses at most three bits, regardless of the
// ratio of mean to deviation. The mean of the eighth is computed from x - x[0] for the same reason.
//
// Long sums are split, so that the error does not grow with the number of additions to one float.
//
// Bound: bytes read (for normalize_*, also written) / bandwidth.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Additions to one accumulator before it is added to the total.
constexpr std::size_t kStretch = 128;

std::size_t eighth(std::size_t count) { return (count + 7) / 8; }

/// A full vector of adjacent elements.
struct Whole {
  HWY_INLINE Float load(const float* p) const { return hn::LoadU(FloatTag(), p); }
  HWY_INLINE void store(Float v, float* p) const { hn::StoreU(v, FloatTag(), p); }
};
/// The first LANES of a vector.
struct Part {
  std::size_t lanes;
  HWY_INLINE Float load(const float* p) const { return load_tail(FloatTag(), p, lanes); }
  HWY_INLINE void store(Float v, float* p) const { store_tail(FloatTag(), v, p, lanes); }
};

/// kVectors vectors of adjacent channels.
template <std::size_t kVectors, typename Access>
HWY_INLINE void sum_columns(const float* src, std::size_t pixels, std::size_t stride, const Access& access,
                            const ShiftedSums& sums) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float first[kVectors];
  Float shift[kVectors];
  for (std::size_t k = 0; k < kVectors; ++k) {
    first[k] = access.load(src + k * lanes);
    shift[k] = hn::Zero(d);
  }
  const std::size_t sample = eighth(pixels);
  for (std::size_t p = 1; p < sample; ++p)
    for (std::size_t k = 0; k < kVectors; ++k)
      shift[k] = hn::Add(shift[k], hn::Sub(access.load(src + p * stride + k * lanes), first[k]));
  Float total[kVectors];
  Float total_squares[kVectors];
  for (std::size_t k = 0; k < kVectors; ++k) {
    shift[k] = hn::MulAdd(shift[k], hn::Set(d, 1.0F / static_cast<float>(sample)), first[k]);
    total[k] = total_squares[k] = hn::Zero(d);
  }
  for (std::size_t from = 0; from < pixels; from += kStretch) {
    Float sum[kVectors];
    Float squares[kVectors];
    for (std::size_t k = 0; k < kVectors; ++k) sum[k] = squares[k] = hn::Zero(d);
    for (std::size_t p = from; p < HWY_MIN(pixels, from + kStretch); ++p) {
      for (std::size_t k = 0; k < kVectors; ++k) {
        const Float distance = hn::Sub(access.load(src + p * stride + k * lanes), shift[k]);
        sum[k] = hn::Add(sum[k], distance);
        squares[k] = hn::MulAdd(distance, distance, squares[k]);
      }
    }
    for (std::size_t k = 0; k < kVectors; ++k) {
      total[k] = hn::Add(total[k], sum[k]);
      total_squares[k] = hn::Add(total_squares[k], squares[k]);
    }
  }
  for (std::size_t k = 0; k < kVectors; ++k) {
    access.store(shift[k], sums.shift + k * lanes);
    access.store(total[k], sums.sum + k * lanes);
    access.store(total_squares[k], sums.squares + k * lanes);
  }
}

void sum_pixels(const float* src, std::size_t pixels, std::size_t channels, const ShiftedSums& sums) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  const auto from = [&](std::size_t c) { return ShiftedSums{sums.shift + c, sums.sum + c, sums.squares + c}; };
  std::size_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) sum_columns<4>(src + c, pixels, channels, Whole{}, from(c));
  for (; c + lanes <= channels; c += lanes) sum_columns<1>(src + c, pixels, channels, Whole{}, from(c));
  if (c < channels) sum_columns<1>(src + c, pixels, channels, Part{channels - c}, from(c));
}

/// Adds (x - shift) and its square for COUNT elements to SUM and SQUARES. Four accumulators each hide the latency of
/// the addition.
HWY_INLINE void add_distances(const float* src, std::size_t count, Float shift, Float& sum, Float& squares) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Float sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  Float all_squares[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto add = [&](std::size_t k, Float distance) HWY_ATTR {
    sums[k] = hn::Add(sums[k], distance);
    all_squares[k] = hn::MulAdd(distance, distance, all_squares[k]);
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes)
    for (std::size_t k = 0; k < 4; ++k) add(k, hn::Sub(hn::LoadU(d, src + i + k * lanes), shift));
  for (; i + lanes <= count; i += lanes) add(0, hn::Sub(hn::LoadU(d, src + i), shift));
  if (i < count) add(1, hn::IfThenElseZero(hn::FirstN(d, count - i), hn::Sub(load_tail(d, src + i, count - i), shift)));
  const auto whole = [](const Float(&parts)[4])
                         HWY_ATTR { return hn::Add(hn::Add(parts[0], parts[1]), hn::Add(parts[2], parts[3])); };
  sum = hn::Add(sum, whole(sums));
  squares = hn::Add(squares, whole(all_squares));
}

void sum_run(const float* src, std::size_t count, const ShiftedSums& sums) {
  const FloatTag d;
  Float sum = hn::Zero(d);
  Float squares = hn::Zero(d);
  const std::size_t sample = eighth(count);
  add_distances(src, sample, hn::Set(d, src[0]), sum, squares);
  const float shift = src[0] + hn::GetLane(hn::SumOfLanes(d, sum)) / static_cast<float>(sample);
  sum = squares = hn::Zero(d);
  const std::size_t stretch = 4 * kStretch * hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += stretch)
    add_distances(src + i, HWY_MIN(stretch, count - i), hn::Set(d, shift), sum, squares);
  *sums.shift = shift;
  *sums.sum = hn::GetLane(hn::SumOfLanes(d, sum));
  *sums.squares = hn::GetLane(hn::SumOfLanes(d, squares));
}

void normalize_pixels(const float* src, float* dst, std::size_t pixels, std::size_t channels,
                      const Normalizer& normalizer) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  const auto normalize = [&](std::size_t c, const auto& access) HWY_ATTR {
    const Float centered = hn::Sub(access.load(src + c), access.load(normalizer.center + c));
    const Float factor = access.load(normalizer.factor + c);
    access.store(hn::MulAdd(centered, factor, access.load(normalizer.offset + c)), dst + c);
  };
  for (std::size_t p = 0; p < pixels; ++p, src += channels, dst += channels) {
    std::size_t c = 0;
    for (; c + lanes <= channels; c += lanes) normalize(c, Whole{});
    if (c < channels) normalize(c, Part{channels - c});
  }
}

void normalize_run(const float* src, float* dst, std::size_t count, const Normalizer& normalizer) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Float center = hn::Set(d, *normalizer.center);
  const Float factor = hn::Set(d, *normalizer.factor);
  const Float offset = hn::Set(d, *normalizer.offset);
  const auto normalize = [&](std::size_t i, const auto& access) HWY_ATTR {
    access.store(hn::MulAdd(hn::Sub(access.load(src + i), center), factor, offset), dst + i);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) normalize(i, Whole{});
  if (i < count) normalize(i, Part{count - i});
}

const NormKernels& kernels() {
  static constexpr NormKernels kKernels{sum_pixels, sum_run, normalize_pixels, normalize_run};
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

const NormKernels& norm_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
