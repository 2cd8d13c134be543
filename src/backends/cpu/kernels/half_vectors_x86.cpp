#include "cpu/kernels/half_vectors_x86.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/cpu_features.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Rows with AVX512_BF16, whose conversion of two vectors is one instruction where Highway 1.0 needs twenty. Denormal
// results become zero.
namespace saccade::cpu {

#if defined(__x86_64__)

namespace {

#define SACCADE_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#define SACCADE_INLINE __attribute__((always_inline)) inline SACCADE_AVX512_BF16

constexpr std::size_t kLanes = 16;

/// The elements of USED, without kMasked all; the others are zero and not read.
template <bool kMasked>
SACCADE_INLINE __m512 load_halves(const std::uint16_t* from, __mmask16 used) {
  const __m256i halves =
      kMasked ? _mm256_maskz_loadu_epi16(used, from) : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

constexpr float kLog2E = 1.442695041F;

/// 2^x as in quick_exp() of half_vectors-inl.hpp; the exponent is added by VSCALEFPS, which saturates.
SACCADE_INLINE __m512 quick_exp2(__m512 x) {
  const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 rest = _mm512_sub_ps(x, whole);
  __m512 mantissa = _mm512_set1_ps(0.0551716346F);
  mantissa = _mm512_fmadd_ps(mantissa, rest, _mm512_set1_ps(0.24261112F));
  mantissa = _mm512_fmadd_ps(mantissa, rest, _mm512_set1_ps(0.693260992F));
  mantissa = _mm512_fmadd_ps(mantissa, rest, _mm512_set1_ps(0.999928074F));
  return _mm512_scalef_ps(mantissa, whole);
}

/// 1 / (1 + e^-x) with the 14 bits of an approximate reciprocal.
SACCADE_INLINE __m512 quick_sigmoid(__m512 x) {
  // Beyond, the reciprocal of infinity would be multiplied with infinity, or 2^x be infinity less infinity.
  const __m512 most = _mm512_set1_ps(87.0F);
  const __m512 bounded = _mm512_min_ps(most, _mm512_max_ps(_mm512_sub_ps(_mm512_setzero_ps(), most), x));
  const __m512 power = quick_exp2(_mm512_mul_ps(bounded, _mm512_set1_ps(-kLog2E)));
  return _mm512_rcp14_ps(_mm512_add_ps(_mm512_set1_ps(1.0F), power));
}

template <HalfActivation kActivation>
SACCADE_INLINE __m512 activate(__m512 x, __m512 low, __m512 high) {
  // The operand that may be NaN is second.
  if constexpr (kActivation == HalfActivation::kRelu) return _mm512_max_ps(_mm512_setzero_ps(), x);
  if constexpr (kActivation == HalfActivation::kLeakyRelu)
    return _mm512_fmadd_ps(low, _mm512_min_ps(_mm512_setzero_ps(), x), _mm512_max_ps(_mm512_setzero_ps(), x));
  if constexpr (kActivation == HalfActivation::kClip) return _mm512_min_ps(high, _mm512_max_ps(low, x));
  if constexpr (kActivation == HalfActivation::kSilu) return _mm512_mul_ps(x, quick_sigmoid(x));
  if constexpr (kActivation == HalfActivation::kSigmoid) return quick_sigmoid(x);
  if constexpr (kActivation == HalfActivation::kGelu) {
    // quick_gelu() of half_epilogue_kernels.cpp
    const __m512 square = _mm512_min_ps(_mm512_set1_ps(30.25F), _mm512_mul_ps(x, x));
    __m512 odds = _mm512_set1_ps(-1.73327538e-05F);
    odds = _mm512_fmadd_ps(odds, square, _mm512_set1_ps(-0.000508997549F));
    odds = _mm512_fmadd_ps(odds, square, _mm512_set1_ps(0.0734584508F));
    odds = _mm512_fmadd_ps(odds, square, _mm512_set1_ps(1.59538222F));
    return _mm512_mul_ps(x, quick_sigmoid(_mm512_mul_ps(x, odds)));
  }
  if constexpr (kActivation == HalfActivation::kHardSwish) {
    const __m512 gate = _mm512_fmadd_ps(x, _mm512_set1_ps(1.0F / 6.0F), _mm512_set1_ps(0.5F));
    const __m512 bounded = _mm512_min_ps(_mm512_set1_ps(1.0F), _mm512_max_ps(_mm512_setzero_ps(), gate));
    return _mm512_mul_ps(x, bounded);
  }
  return x;
}

enum class Addend : std::uint8_t { kNone, kBefore, kAfter };

template <HalfActivation kActivation, Addend kAddend>
SACCADE_INLINE __m512 finished(__m512 v, __m512 added, __m512 low, __m512 high) {
  if constexpr (kAddend == Addend::kBefore) v = _mm512_add_ps(v, added);
  v = activate<kActivation>(v, low, high);
  if constexpr (kAddend == Addend::kAfter) v = _mm512_add_ps(v, added);
  return v;
}

/// Tiles of 16 columns, or with kTwo of 32; with kMasked of fewer. Masked accesses are slower.
template <HalfActivation kActivation, Addend kAddend, bool kTwo, bool kMasked>
SACCADE_INLINE void run_columns(const HalfEpilogue& epilogue, StridedRows<const float> sums, std::size_t rows,
                                std::size_t columns, StridedRows<std::uint16_t> out) {
  const __m512 low = _mm512_set1_ps(epilogue.low);
  const __m512 high = _mm512_set1_ps(epilogue.high);
  constexpr bool kMasksLeft = kMasked && !kTwo;
  const std::uint16_t* addend = epilogue.addend.first;
  const auto used = static_cast<__mmask32>(~std::uint32_t{0} >> (2 * kLanes - columns));
  const auto used_left = static_cast<__mmask16>(used);
  const auto used_right = static_cast<__mmask16>(used >> kLanes);
  __m512 left_added = _mm512_setzero_ps();
  __m512 right_added = _mm512_setzero_ps();
  for (std::size_t row = 0; row < rows; ++row) {
    if constexpr (kAddend != Addend::kNone) {
      left_added = load_halves<kMasksLeft>(addend, used_left);
      if constexpr (kTwo) right_added = load_halves<kMasked>(addend + kLanes, used_right);
      addend += epilogue.addend.stride;
    }
    const __m512 left = finished<kActivation, kAddend>(_mm512_loadu_ps(sums.first), left_added, low, high);
    if constexpr (kTwo) {
      const __m512 right = finished<kActivation, kAddend>(_mm512_loadu_ps(sums.first + kLanes), right_added, low, high);
      const auto halves = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left));
      kMasked ? _mm512_mask_storeu_epi16(out.first, used, halves) : _mm512_storeu_si512(out.first, halves);
    } else {
      const auto halves = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(left));
      auto* to = reinterpret_cast<__m256i*>(out.first);
      kMasked ? _mm256_mask_storeu_epi16(to, used_left, halves) : _mm256_storeu_si256(to, halves);
    }
    sums.first += sums.stride;
    out.first += out.stride;
  }
}

template <HalfActivation kActivation, Addend kAddend>
SACCADE_AVX512_BF16 void run(const HalfEpilogue& epilogue, StridedRows<const float> sums, std::size_t rows,
                             std::size_t columns, StridedRows<std::uint16_t> out) {
  if (columns == 2 * kLanes) return run_columns<kActivation, kAddend, true, false>(epilogue, sums, rows, columns, out);
  if (columns > kLanes) return run_columns<kActivation, kAddend, true, true>(epilogue, sums, rows, columns, out);
  if (columns == kLanes) return run_columns<kActivation, kAddend, false, false>(epilogue, sums, rows, columns, out);
  run_columns<kActivation, kAddend, false, true>(epilogue, sums, rows, columns, out);
}

template <HalfActivation kActivation>
FinishHalfTile with_addend(const HalfEpilogue& epilogue) {
  if (!epilogue.adds) return run<kActivation, Addend::kNone>;
  return epilogue.adds_first ? run<kActivation, Addend::kBefore> : run<kActivation, Addend::kAfter>;
}

/// 0 also for a score of -infinity, whose rest would be NaN. The difference comes first: the lowest number times
/// log2(e) would be infinity.
SACCADE_INLINE __m512 exponential(__m512 score, __m512 factor, __m512 subtrahend) {
  const __m512 x = _mm512_max_ps(_mm512_set1_ps(-1000.0F), _mm512_fmsub_ps(score, factor, subtrahend));
  return quick_exp2(_mm512_mul_ps(x, _mm512_set1_ps(kLog2E)));
}

SACCADE_AVX512_BF16 float exponentials(const float* scores, std::size_t count, float scale, float shift,
                                       std::uint16_t* dst) {
  const __m512 factor = _mm512_set1_ps(scale);
  const __m512 subtrahend = _mm512_set1_ps(shift);
  __m512 sum = _mm512_setzero_ps();
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512 e = exponential(_mm512_loadu_ps(scores + i), factor, subtrahend);
    sum = _mm512_add_ps(sum, e);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + i), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(e)));
  }
  if (i < count) {
    const auto rest = static_cast<__mmask16>((1U << (count - i)) - 1);
    const __m512 e = exponential(_mm512_maskz_loadu_ps(rest, scores + i), factor, subtrahend);
    sum = _mm512_mask_add_ps(sum, rest, sum, e);
    _mm256_mask_storeu_epi16(dst + i, rest, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(e)));
  }
  // g++ 12 warns of its own _mm512_reduce_add_ps().
  alignas(64) std::array<float, kLanes> lanes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
  _mm512_store_ps(lanes.data(), sum);
  return std::accumulate(lanes.begin(), lanes.end(), 0.0F);
}

SACCADE_AVX512_BF16 void narrow_results(StridedRows<const float> src, StridedRows<std::uint16_t> dst, std::size_t rows,
                                        std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row, src.first += src.stride, dst.first += dst.stride) {
    std::size_t i = 0;
    for (; i + 2 * kLanes <= columns; i += 2 * kLanes)
      _mm512_storeu_si512(dst.first + i, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(
                                             _mm512_loadu_ps(src.first + i + kLanes), _mm512_loadu_ps(src.first + i))));
    for (; i < columns; i += kLanes) {
      const auto rest = static_cast<__mmask16>((1U << std::min(kLanes, columns - i)) - 1);
      const __m512 v = _mm512_maskz_loadu_ps(rest, src.first + i);
      _mm256_mask_storeu_epi16(dst.first + i, rest, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v)));
    }
  }
}

/// Eight pixels at a time.
SACCADE_AVX512_BF16 void pad_three(const std::uint16_t* src, std::size_t count, std::uint16_t* dst) {
  constexpr std::size_t kPixels = 8;
  alignas(64) std::array<std::uint16_t, 2 * kLanes> places{};
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint16_t>(i / 4 * 3 + i % 4);
  const __m512i order = _mm512_load_si512(places.data());
  constexpr __mmask32 kUsed = 0x77777777;
  const auto first = [](std::size_t elements) { return static_cast<__mmask32>((std::uint64_t{1} << elements) - 1); };
  for (; count >= kPixels; count -= kPixels, src += 3 * kPixels, dst += 4 * kPixels) {
    const __m512i pixels = _mm512_maskz_loadu_epi16(first(3 * kPixels), src);
    _mm512_storeu_si512(dst, _mm512_maskz_permutexvar_epi16(kUsed, order, pixels));
  }
  if (count == 0) return;
  const __m512i pixels = _mm512_maskz_loadu_epi16(first(3 * count), src);
  _mm512_mask_storeu_epi16(dst, first(4 * count), _mm512_maskz_permutexvar_epi16(kUsed, order, pixels));
}

struct WindowSums {
  __m512 low;   // channels 0-3, 8-11, 16-19, 24-27
  __m512 high;  // the others
};

SACCADE_INLINE void add_pair(WindowSums& sums, __m512i even, __m512i odd, __m512i low_weights, __m512i high_weights) {
  sums.low = _mm512_dpbf16_ps(sums.low, reinterpret_cast<__m512bh>(_mm512_unpacklo_epi16(even, odd)),
                              reinterpret_cast<__m512bh>(low_weights));
  sums.high = _mm512_dpbf16_ps(sums.high, reinterpret_cast<__m512bh>(_mm512_unpackhi_epi16(even, odd)),
                               reinterpret_cast<__m512bh>(high_weights));
}

/// Sums of kWindows windows from W on. READABLE: columns that a tap reads.
template <std::size_t kWindows>
SACCADE_INLINE void sum_windows(const HalfWindows& from, std::size_t w, __mmask32 readable) {
  std::array<WindowSums, kWindows> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
  for (WindowSums& each : sums) each = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  const std::uint16_t* pair = from.pairs;
  for (std::size_t tap = 0; tap < from.tap_count; tap += 2, pair += 2 * HalfWindows::kColumns) {
    const __m512i low = _mm512_loadu_si512(pair);
    const __m512i high = _mm512_loadu_si512(pair + HalfWindows::kColumns);
    const std::uint16_t* even = from.pixel(tap, w);
    // The last tap may be without another: its weight is zero, but the other's element must not be infinite.
    const bool has_odd = tap + 1 < from.tap_count;
    const std::uint16_t* odd = has_odd ? from.pixel(tap + 1, w) : even;
    const __mmask32 odd_readable = has_odd ? readable : 0;
    const std::size_t odd_stride = has_odd ? from.taps[tap + 1].stride : 0;
    for (std::size_t i = 0; i < kWindows; ++i)
      add_pair(sums[i], _mm512_maskz_loadu_epi16(readable, even + i * from.taps[tap].stride),
               _mm512_maskz_loadu_epi16(odd_readable, odd + i * odd_stride), low, high);
  }
  const __m512i left = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i right = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  for (std::size_t i = 0; i < kWindows; ++i) {
    float* out = from.out + (w + i) * HalfWindows::kColumns;
    const __m512 first = _mm512_permutex2var_ps(sums[i].low, left, sums[i].high);
    const __m512 second = _mm512_permutex2var_ps(sums[i].low, right, sums[i].high);
    _mm512_store_ps(out, _mm512_add_ps(_mm512_loadu_ps(from.initial), first));
    _mm512_store_ps(out + kLanes, _mm512_add_ps(_mm512_loadu_ps(from.initial + kLanes), second));
  }
}

/// Pairs of taps are interleaved and multiplied by the dot product of two: a third of the instructions of widening
/// each.
SACCADE_AVX512_BF16 void window_sum(const HalfWindows& from) {
  constexpr std::size_t kTogether = 4;
  const auto readable = static_cast<__mmask32>(~std::uint32_t{0} >> (HalfWindows::kColumns - from.channels));
  std::size_t w = 0;
  for (; w + kTogether <= from.windows; w += kTogether) sum_windows<kTogether>(from, w, readable);
  for (; w < from.windows; ++w) sum_windows<1>(from, w, readable);
}

}  // namespace

HalfWindowSum avx512_window_sum() { return cpu_features().avx512_bf16 ? window_sum : nullptr; }

NarrowHalves avx512_narrow_results() { return cpu_features().avx512_bf16 ? narrow_results : nullptr; }

PadThree avx512_pad_three() { return cpu_features().avx512_bf16 ? pad_three : nullptr; }

HalfExponentials avx512_exponentials() { return cpu_features().avx512_bf16 ? exponentials : nullptr; }

FinishHalfTile avx512_tile(const HalfEpilogue& epilogue) {
  if (!cpu_features().avx512_bf16) return nullptr;
  switch (epilogue.activation) {
    case HalfActivation::kNone: return with_addend<HalfActivation::kNone>(epilogue);
    case HalfActivation::kRelu: return with_addend<HalfActivation::kRelu>(epilogue);
    case HalfActivation::kLeakyRelu: return with_addend<HalfActivation::kLeakyRelu>(epilogue);
    case HalfActivation::kClip: return with_addend<HalfActivation::kClip>(epilogue);
    case HalfActivation::kSilu: return with_addend<HalfActivation::kSilu>(epilogue);
    case HalfActivation::kSigmoid: return with_addend<HalfActivation::kSigmoid>(epilogue);
    case HalfActivation::kHardSwish: return with_addend<HalfActivation::kHardSwish>(epilogue);
    case HalfActivation::kGelu: return with_addend<HalfActivation::kGelu>(epilogue);
  }
  return nullptr;
}

#else

HalfExponentials avx512_exponentials() { return nullptr; }

HalfWindowSum avx512_window_sum() { return nullptr; }

NarrowHalves avx512_narrow_results() { return nullptr; }

PadThree avx512_pad_three() { return nullptr; }

FinishHalfTile avx512_tile(const HalfEpilogue& /*epilogue*/) { return nullptr; }

#endif

}  // namespace saccade::cpu
