#include <array>
#include <cstring>
#include <utility>

#include "base/amx_tiles.hpp"
#include "base/cpu_features.hpp"
#include "cpu/kernels/half_product_tiles.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Products of bfloat16 with AMX and AVX512_BF16.
//
// AMX: 2 x 2 tiles of 16 x 16 accumulators. Each step loads two tiles of rows and two of the panel for four products,
// 64 bytes a cycle at the peak. Tiles of the last rows are configured to be shorter.
//
// AVX512_BF16: a pair of a row is broadcast and multiplied by two vectors of pairs of the panel; 12 x 2 accumulators.
//
// Bound: 2 * depth * height * columns operations / the peak of the instruction.
namespace saccade::cpu {

#if defined(__x86_64__)

namespace {

#define SACCADE_AMX __attribute__((target("amx-tile,amx-bf16")))
#define SACCADE_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

constexpr std::size_t kHalfPanel = HalfStrip::kColumns / 2;

/// UPPER rows of a tile, and with kTwo the rows after them.
template <bool kTwo>
SACCADE_AMX void run_tile(const HalfStrip& strip, const std::uint16_t* rows, std::size_t upper, float* sums) {
  constexpr long kLine = 64;
  const long stride = static_cast<long>(strip.stride * sizeof(std::uint16_t));
  const long sums_stride = static_cast<long>(strip.sums_stride * sizeof(float));
  const std::uint16_t* lower = rows + upper * strip.stride;
  _tile_loadd(0, strip.initial, 0);
  _tile_loadd(1, strip.initial + kHalfPanel, 0);
  if constexpr (kTwo) {
    _tile_loadd(2, strip.initial, 0);
    _tile_loadd(3, strip.initial + kHalfPanel, 0);
  }
  const std::size_t half = strip.depth * kHalfPanel;
  const std::uint16_t* panel = strip.panel;
  for (std::size_t step = 0; step < strip.steps; ++step, panel += 2 * half) {
    const std::int32_t offset = strip.offsets[step];
    _tile_loadd(6, panel, kLine);
    _tile_loadd(4, rows + offset, stride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, panel + half, kLine);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwo) {
      _tile_loadd(5, lower + offset, stride);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, sums, sums_stride);
  _tile_stored(1, sums + kHalfPanel, sums_stride);
  if constexpr (kTwo) {
    float* after = sums + upper * strip.sums_stride;
    _tile_stored(2, after, sums_stride);
    _tile_stored(3, after + kHalfPanel, sums_stride);
  }
}

SACCADE_AMX void load_configuration(std::size_t upper, std::size_t lower, std::size_t depth) {
  const TileConfiguration configuration(upper, lower, depth * sizeof(std::uint16_t));
  // g++ 12's _tile_loadconfig() declares 8 bytes of its operand as read, so that the others may never be written.
  asm volatile("ldtilecfg %[configuration]" : : [configuration] "m"(configuration));
}

SACCADE_AMX void release_tiles() { _tile_release(); }

void run_amx(const HalfStrip& strip) {
  std::size_t configured = 0;
  run_tiles(strip, [&](std::size_t first, std::size_t height, float* sums) {
    const std::size_t upper = height <= TileConfiguration::kRows ? height : (height + 1) / 2;
    if (height != configured) load_configuration(upper, height - upper, strip.depth);
    configured = height;
    const std::uint16_t* rows = strip.rows + first * strip.stride;
    if (upper == height)
      run_tile<false>(strip, rows, upper, sums);
    else
      run_tile<true>(strip, rows, upper, sums);
  });
  release_tiles();
}

SACCADE_AVX512_BF16 __m512bh pairs_at(const std::uint16_t* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

template <std::size_t kHeight>
SACCADE_AVX512_BF16 void run_rows(const HalfStrip& strip, const std::uint16_t* rows, float* sums) {
  __m512 sum[kHeight][2];
  for (std::size_t r = 0; r < kHeight; ++r)
    for (std::size_t v = 0; v < 2; ++v) sum[r][v] = _mm512_loadu_ps(strip.initial + v * kHalfPanel);
  const std::size_t depth = strip.depth;
  const std::uint16_t* panel = strip.panel;
  for (std::size_t step = 0; step < strip.steps; ++step, panel += depth * HalfStrip::kColumns) {
    const std::uint16_t* elements = rows + strip.offsets[step];
    for (std::size_t k = 0; k < depth; k += 2) {
      const __m512bh left = pairs_at(panel + k * kHalfPanel);
      const __m512bh right = pairs_at(panel + depth * kHalfPanel + k * kHalfPanel);
      for (std::size_t r = 0; r < kHeight; ++r) {
        int pair = 0;
        std::memcpy(&pair, elements + r * strip.stride + k, sizeof pair);
        const auto element = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        sum[r][0] = _mm512_dpbf16_ps(sum[r][0], element, left);
        sum[r][1] = _mm512_dpbf16_ps(sum[r][1], element, right);
      }
    }
  }
  for (std::size_t r = 0; r < kHeight; ++r)
    for (std::size_t v = 0; v < 2; ++v) _mm512_storeu_ps(sums + r * strip.sums_stride + v * kHalfPanel, sum[r][v]);
}

constexpr std::size_t kVectorRows = 12;
using RunRows = void (*)(const HalfStrip& strip, const std::uint16_t* rows, float* sums);

template <std::size_t... kHeights>
constexpr std::array<RunRows, sizeof...(kHeights)> by_height(std::index_sequence<kHeights...> /*heights*/) {
  return {run_rows<kHeights + 1>...};
}

void run_avx512(const HalfStrip& strip) {
  static constexpr auto kRun = by_height(std::make_index_sequence<kVectorRows>());
  run_tiles(strip, [&](std::size_t first, std::size_t height, float* sums) {
    for (std::size_t row = 0; row < height; row += kVectorRows) {
      const std::size_t rows = height - row < kVectorRows ? height - row : kVectorRows;
      kRun[rows - 1](strip, strip.rows + (first + row) * strip.stride, sums + row * strip.sums_stride);
    }
  });
}

}  // namespace

const HalfProductKernels* amx_half_kernels() {
  static constexpr HalfProductKernels kKernels{"amx_bf16", run_amx};
  return cpu_features().amx_bf16 ? &kKernels : nullptr;
}

const HalfProductKernels* avx512_half_kernels() {
  static constexpr HalfProductKernels kKernels{"avx512_bf16", run_avx512};
  return cpu_features().avx512_bf16 ? &kKernels : nullptr;
}

#else

const HalfProductKernels* amx_half_kernels() { return nullptr; }
const HalfProductKernels* avx512_half_kernels() { return nullptr; }

#endif

}  // namespace saccade::cpu
