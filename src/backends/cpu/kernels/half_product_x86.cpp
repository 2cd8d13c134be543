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
// A panel of up to 16 columns has one vector. The last vector has 8 lanes where these suffice: Zen 4 multiplies 16 in
// two passes. More rows would not fit into the general registers, which hold their addresses.
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
    const bool is_narrow = tile.columns <= kHalfPanel;
    if (upper == tile.height)
      is_narrow ? run_tile<false, false>(strip, tile, upper, before)
                : run_tile<false, true>(strip, tile, upper, before);
    else
      is_narrow ? run_tile<true, false>(strip, tile, upper, before) : run_tile<true, true>(strip, tile, upper, before);
  });
  release_tiles();
}

SACCADE_AVX512_BF16 __m512bh pairs_at(const std::uint16_t* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

SACCADE_AVX512_BF16 __m256bh few_pairs_at(const std::uint16_t* from) {
  return reinterpret_cast<__m256bh>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

/// Without another broadcast. g++ 12 warns of its own _mm512_castsi512_si256().
SACCADE_AVX512_BF16 __m256bh lower_half(__m512i v) {
  return reinterpret_cast<__m256bh>(__builtin_shufflevector(v, v, 0, 1, 2, 3));
}

/// kHeight rows of TILE from ROW on, times kColumns of its columns: vectors of 16, and one of 8 for the rest.
template <std::size_t kColumns, std::size_t kHeight>
SACCADE_AVX512_BF16 void run_rows(const HalfStrip& strip, const HalfTile& tile, std::size_t row) {
  constexpr std::size_t kVectors = kColumns / kHalfPanel;
  constexpr std::size_t kArray = kVectors > 0 ? kVectors : 1;
  constexpr bool kHasRest = kColumns % kHalfPanel != 0;
  constexpr std::size_t kRest = kVectors * kHalfPanel;  // its first column
  __m512 initial[kArray] = {};
  __m256 rest_initial = _mm256_setzero_ps();
  if (tile.initial != nullptr) {
    for (std::size_t v = 0; v < kVectors; ++v) initial[v] = _mm512_loadu_ps(tile.initial + v * kHalfPanel);
    if constexpr (kHasRest) rest_initial = _mm256_loadu_ps(tile.initial + kRest);
  }
  __m512 sum[kHeight][kArray];
  __m256 rest[kHeight];
  const std::uint16_t* rows[kHeight];
  const std::uint16_t* next = tile.rows + row * strip.stride;
  for (std::size_t r = 0; r < kHeight; ++r, next += strip.stride) {
    for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = initial[v];
    rest[r] = rest_initial;
    rows[r] = next;
  }
  const std::size_t depth = strip.depth;
  const std::uint16_t* panel = tile.panel;
  const std::int32_t* offset = strip.offsets;
  const std::int32_t* const end = offset + strip.steps;
  // There is a step, and a step has a pair: loops that may be empty would copy all accumulators.
  do {
    const std::uint16_t* pairs = panel;
    std::ptrdiff_t k = *offset;
    const std::ptrdiff_t last = k + static_cast<std::ptrdiff_t>(depth);
    do {
      __m512bh columns[kArray];
      __m256bh rest_columns;
      for (std::size_t v = 0; v < kVectors; ++v) columns[v] = pairs_at(pairs + v * depth * kHalfPanel);
      if constexpr (kHasRest) rest_columns = few_pairs_at(pairs + kVectors * depth * kHalfPanel);
      for (std::size_t r = 0; r < kHeight; ++r) {
        int pair = 0;
        std::memcpy(&pair, rows[r] + k, sizeof pair);
        const __m512i element = _mm512_set1_epi32(pair);
        for (std::size_t v = 0; v < kVectors; ++v)
          sum[r][v] = _mm512_dpbf16_ps(sum[r][v], columns[v], reinterpret_cast<__m512bh>(element));
        if constexpr (kHasRest) rest[r] = _mm256_dpbf16_ps(rest[r], rest_columns, lower_half(element));
      }
      pairs += 2 * kHalfPanel;
      k += 2;
    } while (k < last);
    panel += depth * HalfStrip::kColumns;
  } while (++offset < end);
  float* to = tile.sums + row * strip.sums_stride;
  const std::size_t sums_stride = strip.sums_stride;
  for (std::size_t r = 0; r < kHeight; ++r, to += sums_stride) {
    for (std::size_t v = 0; v < kVectors; ++v) _mm512_storeu_ps(to + v * kHalfPanel, sum[r][v]);
    if constexpr (kHasRest) _mm256_storeu_ps(to + kRest, rest[r]);
  }
}

using RunRows = void (*)(const HalfStrip& strip, const HalfTile& tile, std::size_t row);

template <std::size_t kColumns, std::size_t... kHeights>
constexpr std::array<RunRows, sizeof...(kHeights)> by_height(std::index_sequence<kHeights...> /*heights*/) {
  return {run_rows<kColumns, kHeights + 1>...};
}

/// TILE in blocks of rows of about the same height.
template <std::size_t kColumns>
void run_blocks(const HalfStrip& strip, const HalfTile& tile) {
  constexpr std::size_t kMost = 12;
  static constexpr auto kRun = by_height<kColumns>(std::make_index_sequence<kMost>());
  std::size_t row = 0;
  for (std::size_t blocks = (tile.height + kMost - 1) / kMost; blocks > 0; --blocks) {
    const std::size_t height = (tile.height - row + blocks - 1) / blocks;
    kRun[height - 1](strip, tile, row);
    row += height;
  }
}

void run_avx512(const HalfStrip& strip) {
  run_tiles(strip, [&](const HalfTile& tile, UnfinishedTile& /*before*/) {
    if (tile.columns <= 8) return run_blocks<8>(strip, tile);
    if (tile.columns <= 16) return run_blocks<16>(strip, tile);
    if (tile.columns <= 24) return run_blocks<24>(strip, tile);
    run_blocks<32>(strip, tile);
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
