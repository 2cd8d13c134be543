#include "cpu/kernels/half_product_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "cpu/kernels/half_product_tiles.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/half_product_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/half_vectors-inl.hpp"

// For processors without bfloat16 instructions: pairs are widened to float32 as they are loaded. Slower than float32
// kernels; plans for other processors run, and tests of what surrounds the products.
//
// Bound: 2 * depth * height * columns operations / multiply-add peak, twice that for the widening.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kHalfPanel = HalfStrip::kColumns / 2;
constexpr std::size_t kVectors = kHalfPanel / hn::MaxLanes(FloatTag());
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kRows = 12;
#elif HWY_TARGET <= HWY_AVX2
constexpr std::size_t kRows = 4;
#else
constexpr std::size_t kRows = 1;
#endif

/// Half of the columns of kHeight rows from ROW on.
template <std::size_t kHeight>
void run_half(const HalfStrip& strip, const HalfTile& tile, std::size_t row, std::size_t half) {
  const FloatTag d;
  const WordTag words;
  const std::size_t lanes = hn::Lanes(d);
  const auto upper = hn::Set(words, 0xFFFF0000U);
  Float sum[kHeight][kVectors];
  for (std::size_t r = 0; r < kHeight; ++r)
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[r][v] = tile.initial == nullptr ? hn::Zero(d) : hn::LoadU(d, tile.initial + half * kHalfPanel + v * lanes);
  const std::size_t depth = strip.depth;
  const std::uint16_t* rows = tile.rows + row * strip.stride;
  const std::uint16_t* panel = tile.panel + half * kHalfPanel * depth;
  float* sums = tile.sums + row * strip.sums_stride + half * kHalfPanel;
  for (std::size_t step = 0; step < strip.steps; ++step, panel += depth * HalfStrip::kColumns) {
    const std::uint16_t* elements = rows + strip.offsets[step];
    for (std::size_t k = 0; k < depth; k += 2) {
      Float even[kVectors];
      Float odd[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto* pairs = reinterpret_cast<const std::uint32_t*>(panel + k * kHalfPanel) + v * lanes;
        const auto both = hn::LoadU(words, pairs);
        even[v] = hn::BitCast(d, hn::ShiftLeft<16>(both));
        odd[v] = hn::BitCast(d, hn::And(both, upper));
      }
      for (std::size_t r = 0; r < kHeight; ++r) {
        std::uint32_t pair = 0;
        std::memcpy(&pair, elements + r * strip.stride + k, sizeof pair);
        const Float first = hn::Set(d, std::bit_cast<float>(pair << 16U));
        const Float second = hn::Set(d, std::bit_cast<float>(pair & 0xFFFF0000U));
        for (std::size_t v = 0; v < kVectors; ++v)
          sum[r][v] = hn::MulAdd(second, odd[v], hn::MulAdd(first, even[v], sum[r][v]));
      }
    }
  }
  for (std::size_t r = 0; r < kHeight; ++r)
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, sums + r * strip.sums_stride + v * lanes);
}

using RunHalf = void (*)(const HalfStrip& strip, const HalfTile& tile, std::size_t row, std::size_t half);

template <std::size_t... kHeights>
constexpr std::array<RunHalf, sizeof...(kHeights)> by_height(std::index_sequence<kHeights...> /*heights*/) {
  return {run_half<kHeights + 1>...};
}

void run(const HalfStrip& strip) {
  static constexpr auto kRun = by_height(std::make_index_sequence<kRows>());
  run_tiles(strip, [&](const HalfTile& tile, UnfinishedTile& /*before*/) {
    for (std::size_t row = 0; row < tile.height; row += kRows)
      for (std::size_t half = 0; half < 2; ++half) kRun[std::min(kRows, tile.height - row) - 1](strip, tile, row, half);
  });
}

const HalfProductKernels& kernels() {
  static constexpr HalfProductKernels kKernels{"widening", run};
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

const HalfProductKernels& choose() {
  if (const HalfProductKernels* tiles = amx_half_kernels()) return *tiles;
  if (const HalfProductKernels* vectors = avx512_half_kernels()) return *vectors;
  return HWY_DYNAMIC_DISPATCH(kernels)();
}
}  // namespace

const HalfProductKernels& half_product_kernels() {
  static const HalfProductKernels& chosen = choose();
  return chosen;
}

}  // namespace saccade::cpu
#endif
