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
// 64 bytes a cycle at the peak. Tiles of the last rows are configured to be shorter. The products run beside the
// vector instructions that finish the tile before, because those are spread over the steps.
//
// AVX512_BF16: a pair of a row is broadcast and multiplied by two vectors of pairs of the panel; 12 x 2 accumulators.
// A panel of up to 16 columns has one vector: 16 x 1 accumulators.
//
// Bound: 2 * depth * height * columns operations / the peak of the instruction.
namespace saccade::cpu {

#if defined(__x86_64__)

namespace {

#define SACCADE_AMX __attribute__((target("amx-tile,amx-bf16")))
#define SACCADE_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

constexpr std::size_t kHalfPanel = HalfStrip::kColumns / 2;

// Rows of the tile before that are finished at a time: enough for their call, few enough for the reorder buffer.
constexpr std::size_t kPiece = 8;
// Bytes of a panel ahead of the products that its first reading fetches.
constexpr std::size_t kAhead = 8192;

SACCADE_AMX void fetch_ahead(const std::uint16_t* panel, std::size_t elements) {
  const auto* bytes = reinterpret_cast<const char*>(panel) + kAhead;
  for (std::size_t line = 0; line < elements * sizeof(std::uint16_t); line += 64)
    _mm_prefetch(bytes + line, _MM_HINT_T0);
}

/// The accumulators of the upper rows, and with kTwo of all; with kWide of both halves of the columns.
template <bool kTwo, bool kWide>
SACCADE_AMX void set_sums(const float* initial) {
  if (initial == nullptr) {
    _tile_zero(0);
    if constexpr (kWide) _tile_zero(1);
    if constexpr (kTwo) _tile_zero(2);
    if constexpr (kTwo && kWide) _tile_zero(3);
    return;
  }
  _tile_loadd(0, initial, 0);
  if constexpr (kWide) _tile_loadd(1, initial + kHalfPanel, 0);
  if constexpr (kTwo) _tile_loadd(2, initial, 0);
  if constexpr (kTwo && kWide) _tile_loadd(3, initial + kHalfPanel, 0);
}

/// UPPER rows of TILE, and with kTwo the rows after them; with kWide both halves of the columns.
template <bool kTwo, bool kWide>
SACCADE_AMX void run_tile(const HalfStrip& strip, const HalfTile& tile, std::size_t upper, UnfinishedTile& before) {
  constexpr long kLine = 64;
  const long stride = static_cast<long>(strip.stride * sizeof(std::uint16_t));
  const long sums_stride = static_cast<long>(strip.sums_stride * sizeof(float));
  const std::uint16_t* rows = tile.rows;
  const std::uint16_t* lower = rows + upper * strip.stride;
  set_sums<kTwo, kWide>(tile.initial);
  const std::size_t half = strip.depth * kHalfPanel;
  const std::uint16_t* panel = tile.panel;
  constexpr std::size_t kPieces = HalfStrip::kRows / kPiece;
  const bool has_few = strip.steps < kPieces;
  const std::size_t interval = has_few ? 1 : strip.steps / kPieces;  // steps from a piece to the next
  const std::size_t piece = has_few ? (HalfStrip::kRows + strip.steps - 1) / strip.steps : kPiece;
  std::size_t due = 0;
  for (std::size_t step = 0; step < strip.steps; ++step, panel += 2 * half) {
    const std::int32_t offset = strip.offsets[step];
    if (tile.is_first) fetch_ahead(panel, 2 * half);
    _tile_loadd(6, panel, kLine);
    _tile_loadd(4, rows + offset, stride);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kWide) {
      _tile_loadd(7, panel + half, kLine);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTwo) {
      _tile_loadd(5, lower + offset, stride);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kWide) _tile_dpbf16ps(3, 5, 7);
    }
    if (step == due) {
      before.finish(piece);
      due += interval;
    }
  }
  _tile_stored(0, tile.sums, sums_stride);
  if constexpr (kWide) _tile_stored(1, tile.sums + kHalfPanel, sums_stride);
  if constexpr (kTwo) {
    float* after = tile.sums + upper * strip.sums_stride;
    _tile_stored(2, after, sums_stride);
    if constexpr (kWide) _tile_stored(3, after + kHalfPanel, sums_stride);
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
  run_tiles(strip, [&](const HalfTile& tile, UnfinishedTile& before) {
    const std::size_t upper = tile.height <= TileConfiguration::kRows ? tile.height : (tile.height + 1) / 2;
    if (tile.height != configured) load_configuration(upper, tile.height - upper, strip.depth);
    configured = tile.height;
    if (upper == tile.height)
      tile.is_narrow ? run_tile<false, false>(strip, tile, upper, before)
                     : run_tile<false, true>(strip, tile, upper, before);
    else
      tile.is_narrow ? run_tile<true, false>(strip, tile, upper, before)
                     : run_tile<true, true>(strip, tile, upper, before);
  });
  release_tiles();
}

SACCADE_AVX512_BF16 __m512bh pairs_at(const std::uint16_t* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

/// kHeight rows of TILE from ROW on, times kVectors vectors of its columns.
template <std::size_t kVectors, std::size_t kHeight>
SACCADE_AVX512_BF16 void run_rows(const HalfStrip& strip, const HalfTile& tile, std::size_t row) {
  __m512 sum[kHeight][kVectors];
  for (std::size_t r = 0; r < kHeight; ++r)
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[r][v] = tile.initial == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(tile.initial + v * kHalfPanel);
  const std::size_t depth = strip.depth;
  const std::uint16_t* rows = tile.rows + row * strip.stride;
  const std::uint16_t* panel = tile.panel;
  float* sums = tile.sums + row * strip.sums_stride;
  for (std::size_t step = 0; step < strip.steps; ++step, panel += depth * HalfStrip::kColumns) {
    const std::uint16_t* elements = rows + strip.offsets[step];
    for (std::size_t k = 0; k < depth; k += 2) {
      __m512bh columns[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) columns[v] = pairs_at(panel + v * depth * kHalfPanel + k * kHalfPanel);
      for (std::size_t r = 0; r < kHeight; ++r) {
        int pair = 0;
        std::memcpy(&pair, elements + r * strip.stride + k, sizeof pair);
        const auto element = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], columns[v], element);
      }
    }
  }
  for (std::size_t r = 0; r < kHeight; ++r)
    for (std::size_t v = 0; v < kVectors; ++v)
      _mm512_storeu_ps(sums + r * strip.sums_stride + v * kHalfPanel, sum[r][v]);
}

using RunRows = void (*)(const HalfStrip& strip, const HalfTile& tile, std::size_t row);

template <std::size_t kVectors, std::size_t... kHeights>
constexpr std::array<RunRows, sizeof...(kHeights)> by_height(std::index_sequence<kHeights...> /*heights*/) {
  return {run_rows<kVectors, kHeights + 1>...};
}

/// TILE in blocks of rows of about the same height, at most kMost.
template <std::size_t kVectors, std::size_t kMost>
void run_blocks(const HalfStrip& strip, const HalfTile& tile) {
  static constexpr auto kRun = by_height<kVectors>(std::make_index_sequence<kMost>());
  std::size_t row = 0;
  for (std::size_t blocks = (tile.height + kMost - 1) / kMost; blocks > 0; --blocks) {
    const std::size_t height = (tile.height - row + blocks - 1) / blocks;
    kRun[height - 1](strip, tile, row);
    row += height;
  }
}

void run_avx512(const HalfStrip& strip) {
  run_tiles(strip, [&](const HalfTile& tile, UnfinishedTile& /*before*/) {
    tile.is_narrow ? run_blocks<1, 16>(strip, tile) : run_blocks<2, 12>(strip, tile);
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
