#include "cpu/kernels/half_vectors_x86.hpp"

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

SACCADE_INLINE __m512 load_half(const std::uint16_t* from) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
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

template <HalfActivation kActivation>
SACCADE_INLINE __m512 activate(__m512 x, __m512 low, __m512 high) {
  // The operand that may be NaN is second.
  if constexpr (kActivation == HalfActivation::kRelu) return _mm512_max_ps(_mm512_setzero_ps(), x);
  if constexpr (kActivation == HalfActivation::kLeakyRelu)
    return _mm512_fmadd_ps(low, _mm512_min_ps(_mm512_setzero_ps(), x), _mm512_max_ps(_mm512_setzero_ps(), x));
  if constexpr (kActivation == HalfActivation::kClip) return _mm512_min_ps(high, _mm512_max_ps(low, x));
  if constexpr (kActivation == HalfActivation::kSilu) {
    // Beyond, the reciprocal of infinity would be multiplied with infinity, or 2^x be infinity less infinity.
    const __m512 most = _mm512_set1_ps(87.0F);
    const __m512 bounded = _mm512_min_ps(most, _mm512_max_ps(_mm512_sub_ps(_mm512_setzero_ps(), most), x));
    const __m512 power = quick_exp2(_mm512_mul_ps(bounded, _mm512_set1_ps(-kLog2E)));
    return _mm512_mul_ps(x, _mm512_rcp14_ps(_mm512_add_ps(_mm512_set1_ps(1.0F), power)));
  }
  return x;
}

template <HalfActivation kActivation, bool kAdds, bool kAddsFirst>
SACCADE_AVX512_BF16 void run(const HalfEpilogue& epilogue, StridedRows<const float> sums, std::size_t rows,
                             std::size_t /*columns*/, StridedRows<std::uint16_t> out) {
  const __m512 low = _mm512_set1_ps(epilogue.low);
  const __m512 high = _mm512_set1_ps(epilogue.high);
  const std::uint16_t* addend = epilogue.addend.first;
  for (std::size_t row = 0; row < rows; ++row) {
    __m512 left = _mm512_loadu_ps(sums.first);
    __m512 right = _mm512_loadu_ps(sums.first + kLanes);
    if constexpr (kAdds && kAddsFirst) {
      left = _mm512_add_ps(left, load_half(addend));
      right = _mm512_add_ps(right, load_half(addend + kLanes));
    }
    left = activate<kActivation>(left, low, high);
    right = activate<kActivation>(right, low, high);
    if constexpr (kAdds && !kAddsFirst) {
      left = _mm512_add_ps(left, load_half(addend));
      right = _mm512_add_ps(right, load_half(addend + kLanes));
    }
    _mm512_storeu_si512(out.first, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left)));
    sums.first += sums.stride;
    out.first += out.stride;
    if constexpr (kAdds) addend += epilogue.addend.stride;
  }
}

template <HalfActivation kActivation>
FinishHalfTile with_addend(const HalfEpilogue& epilogue) {
  if (!epilogue.adds) return run<kActivation, false, false>;
  return epilogue.adds_first ? run<kActivation, true, true> : run<kActivation, true, false>;
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

}  // namespace

HalfExponentials avx512_exponentials() { return cpu_features().avx512_bf16 ? exponentials : nullptr; }

FinishHalfTile avx512_whole_tile(const HalfEpilogue& epilogue) {
  if (!cpu_features().avx512_bf16) return nullptr;
  switch (epilogue.activation) {
    case HalfActivation::kNone: return with_addend<HalfActivation::kNone>(epilogue);
    case HalfActivation::kRelu: return with_addend<HalfActivation::kRelu>(epilogue);
    case HalfActivation::kLeakyRelu: return with_addend<HalfActivation::kLeakyRelu>(epilogue);
    case HalfActivation::kClip: return with_addend<HalfActivation::kClip>(epilogue);
    case HalfActivation::kSilu: return with_addend<HalfActivation::kSilu>(epilogue);
    default: return nullptr;
  }
}

#else

HalfExponentials avx512_exponentials() { return nullptr; }

FinishHalfTile avx512_whole_tile(const HalfEpilogue& /*epilogue*/) { return nullptr; }

#endif

}  // namespace saccade::cpu
