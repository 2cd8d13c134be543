#include "cpu/kernels/pixel_kernels.hpp"

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/pixel_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using IntTag = hn::ScalableTag<std::int32_t>;
using Int = hn::Vec<IntTag>;
using ShortTag = hn::Rebind<std::int16_t, IntTag>;
using FloatTag = hn::Rebind<float, IntTag>;
using Float = hn::Vec<FloatTag>;

using ByteTag = hn::ScalableTag<std::uint8_t>;
using Bytes = hn::Vec<ByteTag>;

void split3(const std::uint8_t* interleaved, std::size_t count, const std::array<std::uint8_t*, 3>& rows) {
  const ByteTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    Bytes first;
    Bytes second;
    Bytes third;
    hn::LoadInterleaved3(d, interleaved + 3 * x, first, second, third);
    hn::StoreU(first, d, rows[0] + x);
    hn::StoreU(second, d, rows[1] + x);
    hn::StoreU(third, d, rows[2] + x);
  }
  for (; x < count; ++x)
    for (std::size_t c = 0; c < 3; ++c) rows[c][x] = interleaved[3 * x + c];
}

void gather(const std::uint8_t* samples, std::size_t step, std::size_t count, std::uint8_t* dst) {
  const ByteTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t x = 0;
  // A vector load also reads the bytes behind its last sample. Behind the row's last sample nothing may be read: the
  // last ones are copied one by one.
  if (step == 2) {
    for (; x + lanes < count; x += lanes) {
      Bytes taken;
      Bytes second;
      hn::LoadInterleaved2(d, samples + 2 * x, taken, second);
      hn::StoreU(taken, d, dst + x);
    }
  } else if (step == 4) {
    for (; x + lanes < count; x += lanes) {
      Bytes taken;
      Bytes second;
      Bytes third;
      Bytes fourth;
      hn::LoadInterleaved4(d, samples + 4 * x, taken, second, third, fourth);
      hn::StoreU(taken, d, dst + x);
    }
  }
  for (; x < count; ++x) dst[x] = samples[x * step];
}

/// (a + b + c + d + 2) >> 2 in bytes. A mean of rounded means is one more if one of them was rounded up and they differ
/// by an odd number.
HWY_INLINE Bytes mean_of_four(Bytes a, Bytes b, Bytes c, Bytes d) {
  const Bytes first = hn::AverageRound(a, b);
  const Bytes second = hn::AverageRound(c, d);
  const Bytes excess = hn::And(hn::Or(hn::Xor(a, b), hn::Xor(c, d)), hn::Xor(first, second));
  return hn::Sub(hn::AverageRound(first, second), hn::And(excess, hn::Set(ByteTag(), 1)));
}

/// The own colour of a mosaic's row, green, and the other one.
using MosaicColors = std::array<std::uint8_t*, 3>;

/// A vector of a mosaic's pixels from X on, which have neighbours on both sides.
HWY_INLINE void demosaic_vector(const MosaicRow& rows, int x, const MosaicColors& to) {
  const ByteTag d;
  const auto load = [&](const std::uint8_t* row, int at) { return hn::LoadU(d, row + at); };
  const Bytes here = load(rows.row, x);
  const Bytes left = load(rows.row, x - 1);
  const Bytes right = load(rows.row, x + 1);
  const Bytes above = load(rows.above, x);
  const Bytes below = load(rows.below, x);
  const Bytes around = mean_of_four(left, right, above, below);
  const Bytes corners =
      mean_of_four(load(rows.above, x - 1), load(rows.above, x + 1), load(rows.below, x - 1), load(rows.below, x + 1));
  const Bytes beside = hn::AverageRound(left, right);
  const Bytes upright = hn::AverageRound(above, below);
  if (((x ^ rows.own) & 1) == 0) {
    hn::StoreU(hn::OddEven(beside, here), d, to[0]);
    hn::StoreU(hn::OddEven(here, around), d, to[1]);
    hn::StoreU(hn::OddEven(upright, corners), d, to[2]);
  } else {
    hn::StoreU(hn::OddEven(here, beside), d, to[0]);
    hn::StoreU(hn::OddEven(around, here), d, to[1]);
    hn::StoreU(hn::OddEven(corners, upright), d, to[2]);
  }
}

void demosaic_columns(const MosaicRow& rows, int begin, int end, const MosaicColors& to) {
  const auto at = [&](int x) { return MosaicColors{to[0] + x - begin, to[1] + x - begin, to[2] + x - begin}; };
  const auto make = [&](int from, int until) {
    for (int x = from; x < until; ++x) {
      const MosaicPixel pixel = demosaiced(rows, x);
      const MosaicColors colors = at(x);
      *colors[0] = pixel.own;
      *colors[1] = pixel.green;
      *colors[2] = pixel.other;
    }
  };
  const int lanes = static_cast<int>(hn::Lanes(ByteTag()));
  const int first = std::max(begin, 1);
  const int last = std::min(end, rows.width - 1);
  if (last - first < lanes) return make(begin, end);
  make(begin, first);
  for (int x = first; x + lanes <= last; x += lanes) demosaic_vector(rows, x, at(x));
  // It overlaps the one before and makes the same values.
  demosaic_vector(rows, last - lanes, at(last - lanes));
  make(last, end);
}

/// Pairs of bytes; the first is the low one.
HWY_INLINE Int load_pairs(const std::uint8_t* pairs) {
  const IntTag d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, pairs[0] | pairs[1] << 8);
#else
  const hn::Rebind<std::uint16_t, IntTag> du16;
  const hn::Repartition<std::uint8_t, decltype(du16)> d8;
  return hn::PromoteTo(d, hn::BitCast(du16, hn::LoadU(d8, pairs)));
#endif
}

/// (p0 * (2048 - w) + p1 * w) >> 4, rearranged so that p0's share is exact and products fit 16 bits.
HWY_INLINE void blend_vector(const std::uint8_t* pairs, const std::int16_t* weights, std::int16_t* dst) {
  const IntTag d;
  const ShortTag d16;
  const Int pair = load_pairs(pairs);
  const Int first = hn::And(pair, hn::Set(d, 255));
  const Int second = hn::ShiftRight<8>(pair);
  const Int weight = hn::PromoteTo(d, hn::LoadU(d16, weights));
  const Int part = hn::ShiftRight<4>(hn::Mul(hn::Sub(second, first), weight));
  hn::StoreU(hn::DemoteTo(d16, hn::Add(hn::ShiftLeft<7>(first), part)), d16, dst);
}

void blend(const std::uint8_t* pairs, const std::int16_t* weights, std::size_t count, std::int16_t* dst) {
  const std::size_t lanes = hn::Lanes(IntTag());
  std::size_t x = 0;
  for (; x + lanes <= count; x += lanes) blend_vector(pairs + 2 * x, weights + x, dst + x);
  if (x == count) return;
  std::uint8_t rest[HWY_MAX_BYTES / 2] = {};
  std::memcpy(rest, pairs + 2 * x, 2 * (count - x));
  blend_vector(rest, weights + x, dst + x);
}

void widen(const std::uint8_t* samples, std::size_t count, std::int16_t* dst) {
  for (std::size_t x = 0; x < count; ++x) dst[x] = static_cast<std::int16_t>(samples[x] << 7);
}

/// A vector of sums to the next pass's samples.
HWY_INLINE Int after_pass(Int sum, int shift, int low, int high) {
  const IntTag d;
  const Int rounded = hn::ShiftRightSame(hn::Add(sum, hn::Set(d, (1 << shift) >> 1)), shift);
  return hn::Min(hn::Max(rounded, hn::Set(d, low)), hn::Set(d, high));
}

/// Four adjacent samples, from each of the positions FIRST (a vector) on.
HWY_INLINE Int load_fours(const std::uint8_t* samples, const std::int32_t* first) {
  const IntTag d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::GatherOffset(d, reinterpret_cast<const std::int32_t*>(samples), hn::LoadU(d, first));
#else
  HWY_ALIGN std::int32_t fours[HWY_MAX_BYTES / sizeof(std::int32_t)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) std::memcpy(fours + i, samples + first[i], sizeof(std::int32_t));
  return hn::Load(d, fours);
#endif
}

void filter_across(const FilterColumns& table, const FilterArithmetic& arithmetic, const std::uint8_t* samples,
                   std::int32_t* dst) {
  constexpr int kTapsAtOnce = 4;
  const IntTag d;
  const Int byte = hn::Set(d, 255);
  for (std::size_t x = 0; x < table.positions; x += hn::Lanes(d)) {
    const std::int32_t* weights = table.weights.data() + x;
    Int sum = hn::Zero(d);
    for (int k = 0; k < table.taps; k += kTapsAtOnce) {
      Int taps = load_fours(samples + k, table.first.data() + x);
      for (int i = k; i < std::min(k + kTapsAtOnce, table.taps); ++i, weights += table.stride()) {
        sum = hn::Add(sum, hn::Mul(hn::And(taps, byte), hn::LoadU(d, weights)));
        taps = hn::ShiftRight<8>(taps);
      }
    }
    hn::StoreU(after_pass(sum, arithmetic.across_shift, arithmetic.low, arithmetic.high), d, dst + x);
  }
}

void filter_down(const std::int32_t* const* rows, const std::int32_t* weights, int taps,
                 const FilterArithmetic& arithmetic, std::size_t count, std::int16_t* dst) {
  const IntTag d;
  for (std::size_t x = 0; x < count; x += hn::Lanes(d)) {
    Int sum = hn::Zero(d);
    for (int k = 0; k < taps; ++k) sum = hn::Add(sum, hn::Mul(hn::LoadU(d, rows[k] + x), hn::Set(d, weights[k])));
    const Int value = hn::ShiftLeft<7>(after_pass(sum, arithmetic.down_shift, 0, 255));
    hn::StoreU(hn::DemoteTo(ShortTag(), value), ShortTag(), dst + x);
  }
}

/// blend_rows() of one component, at X.
HWY_INLINE Int blend_column(const PixelRows& rows, std::size_t c, std::size_t x) {
  const ShortTag d;
  const auto upper = hn::MulHigh(hn::LoadU(d, rows.upper[c] + x), hn::Set(d, rows.upper_weight[c]));
  const auto lower = hn::MulHigh(hn::LoadU(d, rows.lower[c] + x), hn::Set(d, rows.lower_weight[c]));
  const auto sum = hn::Add(hn::Add(upper, lower), hn::Set(d, std::int16_t{2}));
  return hn::PromoteTo(IntTag(), hn::ShiftRight<2>(sum));
}

HWY_INLINE Int round_to_byte(Int value) {
  const IntTag d;
  const Int rounded = hn::ShiftRight<16>(hn::Add(value, hn::Set(d, 32768)));
  return hn::Min(hn::Max(rounded, hn::Zero(d)), hn::Set(d, 255));
}

template <ColorModel kModel>
HWY_INLINE void load_rgb(const PixelRows& rows, std::size_t x, Int& red, Int& green, Int& blue) {
  const IntTag d;
  if constexpr (kModel == ColorModel::kGray) {
    red = green = blue = blend_column(rows, 0, x);
  } else if constexpr (kModel == ColorModel::kRgb) {
    red = blend_column(rows, 0, x);
    green = blend_column(rows, 1, x);
    blue = blend_column(rows, 2, x);
  } else {
    const YuvMatrix& yuv = rows.yuv;
    const Int above = hn::Sub(blend_column(rows, 0, x), hn::Set(d, yuv.black));
    const Int luma = hn::Mul(above, hn::Set(d, yuv.luma));
    const Int u = hn::Sub(blend_column(rows, 1, x), hn::Set(d, 128));
    const Int v = hn::Sub(blend_column(rows, 2, x), hn::Set(d, 128));
    const auto times = [&](Int value, int factor) { return hn::Mul(value, hn::Set(d, factor)); };
    red = round_to_byte(hn::Add(luma, times(v, yuv.red_v)));
    green = round_to_byte(hn::Add(luma, hn::Add(times(u, yuv.green_u), times(v, yuv.green_v))));
    blue = round_to_byte(hn::Add(luma, times(u, yuv.blue_u)));
  }
}

/// Not an FMA, so that it rounds like the reference.
HWY_INLINE Float scaled(const PixelRows& rows, std::size_t channel, Int value) {
  const FloatTag d;
  return hn::Add(hn::Mul(hn::ConvertTo(d, value), hn::Set(d, rows.scale[channel])), hn::Set(d, rows.bias[channel]));
}

HWY_INLINE Int gray_of(Int red, Int green, Int blue) {
  const IntTag d;
  const Int sum = hn::Add(hn::Add(hn::Mul(red, hn::Set(d, 4899)), hn::Mul(green, hn::Set(d, 9617))),
                          hn::Add(hn::Mul(blue, hn::Set(d, 1868)), hn::Set(d, 8192)));
  return hn::ShiftRight<14>(sum);
}

/// Stores one vector of pixels from X on, planar or interleaved.
template <ColorModel kModel>
HWY_INLINE void finish_vector(const PixelRows& rows, std::size_t x, const std::array<float*, 3>& to) {
  const FloatTag d;
  Int red;
  Int green;
  Int blue;
  load_rgb<kModel>(rows, x, red, green, blue);
  if (rows.order == ChannelOrder::kGray) {
    const Int gray = kModel == ColorModel::kGray ? red : gray_of(red, green, blue);
    hn::StoreU(scaled(rows, 0, gray), d, to[0]);
    return;
  }
  if (rows.order == ChannelOrder::kBgr) {
    const Int last = red;
    red = blue;
    blue = last;
  }
  const Float first = scaled(rows, 0, red);
  const Float second = scaled(rows, 1, green);
  const Float third = scaled(rows, 2, blue);
  if (to[1] == nullptr) {
    hn::StoreInterleaved3(first, second, third, d, to[0]);
  } else {
    hn::StoreU(first, d, to[0]);
    hn::StoreU(second, d, to[1]);
    hn::StoreU(third, d, to[2]);
  }
}

template <ColorModel kModel>
HWY_INLINE void finish_row(const PixelRows& rows, std::size_t count, const std::array<float*, 3>& channels) {
  const std::size_t lanes = hn::Lanes(IntTag());
  const bool interleaved = rows.order != ChannelOrder::kGray && channels[1] == nullptr;
  const std::size_t step = interleaved ? 3 : 1;
  const auto at = [&](std::size_t x) {
    const auto moved = [&](std::size_t c) { return channels[c] == nullptr ? nullptr : channels[c] + x * step; };
    return std::array<float*, 3>{moved(0), moved(1), moved(2)};
  };
  std::size_t x = 0;
  for (; x + lanes <= count; x += lanes) finish_vector<kModel>(rows, x, at(x));
  if (x == count) return;
  if (count >= lanes) {  // the last vector overlaps the one before and recomputes the same values
    finish_vector<kModel>(rows, count - lanes, at(count - lanes));
    return;
  }
  HWY_ALIGN float room[3][3 * HWY_MAX_BYTES / sizeof(float)];
  finish_vector<kModel>(rows, 0, {room[0], interleaved ? nullptr : room[1], interleaved ? nullptr : room[2]});
  for (std::size_t c = 0; c < 3; ++c)
    if (channels[c] != nullptr) std::memcpy(channels[c], room[c], count * step * sizeof(float));
}

void finish(const PixelRows& rows, std::size_t count, const std::array<float*, 3>& channels) {
  switch (rows.model) {
    case ColorModel::kRgb: finish_row<ColorModel::kRgb>(rows, count, channels); break;
    case ColorModel::kYuv: finish_row<ColorModel::kYuv>(rows, count, channels); break;
    case ColorModel::kGray: finish_row<ColorModel::kGray>(rows, count, channels); break;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {
HWY_EXPORT(split3);
HWY_EXPORT(gather);
HWY_EXPORT(demosaic_columns);
HWY_EXPORT(blend);
HWY_EXPORT(widen);
HWY_EXPORT(filter_across);
HWY_EXPORT(filter_down);
HWY_EXPORT(finish);
}  // namespace

void split_three(const std::uint8_t* interleaved, std::size_t count, const std::array<std::uint8_t*, 3>& rows) {
  HWY_DYNAMIC_DISPATCH(split3)(interleaved, count, rows);
}
void gather_samples(const std::uint8_t* samples, int step, std::size_t count, std::uint8_t* dst) {
  if (step == 1)
    std::memcpy(dst, samples, count);
  else
    HWY_DYNAMIC_DISPATCH(gather)(samples, static_cast<std::size_t>(step), count, dst);
}
void demosaic(const MosaicRow& rows, int begin, std::size_t count, const std::array<std::uint8_t*, 3>& colors) {
  const std::size_t own = rows.is_red ? 0 : 2;
  HWY_DYNAMIC_DISPATCH(demosaic_columns)
  (rows, begin, begin + static_cast<int>(count), {colors[own], colors[1], colors[2 - own]});
}
void blend_pairs(const std::uint8_t* pairs, const std::int16_t* weights, std::size_t count, std::int16_t* dst) {
  HWY_DYNAMIC_DISPATCH(blend)(pairs, weights, count, dst);
}
void widen_samples(const std::uint8_t* samples, std::size_t count, std::int16_t* dst) {
  HWY_DYNAMIC_DISPATCH(widen)(samples, count, dst);
}
void FilterColumns::build(const FilterTable& table) {
  taps = table.taps();
  positions = static_cast<std::size_t>(table.positions());
  first.assign(stride(), 0);
  std::ranges::copy(table.first(), first.begin());
  weights.assign(static_cast<std::size_t>(taps) * stride(), 0);
  for (std::size_t x = 0; x < positions; ++x)
    for (std::size_t k = 0; k < static_cast<std::size_t>(taps); ++k)
      weights[k * stride() + x] = table.weights(static_cast<int>(x))[k];
}

void filter_row(const FilterColumns& table, const FilterArithmetic& arithmetic, const std::uint8_t* samples,
                std::int32_t* dst) {
  HWY_DYNAMIC_DISPATCH(filter_across)(table, arithmetic, samples, dst);
}
void filter_columns(const std::int32_t* const* rows, const std::int32_t* weights, int taps,
                    const FilterArithmetic& arithmetic, std::size_t count, std::int16_t* dst) {
  HWY_DYNAMIC_DISPATCH(filter_down)(rows, weights, taps, arithmetic, count, dst);
}
void finish_pixels(const PixelRows& rows, std::size_t count, const std::array<float*, 3>& channels) {
  HWY_DYNAMIC_DISPATCH(finish)(rows, count, channels);
}

}  // namespace saccade::cpu
#endif
