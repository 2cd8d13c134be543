#include "cpu/kernels/product_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/product_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

// An element of a row is broadcast and multiplied by a row of the panel, which is two vectors wide. The accumulators,
// the panel's vectors and the broadcast element take all of the registers: 12 + 2 + 1 of 16 up to AVX2, 28 + 2 + 1 of
// 32 with AVX-512. Per step there are fewer loads than multiply-adds, so that the multiply-adds are the bound.
//
// Bound: 2 * taps * depth * height * columns operations / multiply-add peak.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kVectors = 2;
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kRows = 14;
#else
constexpr std::size_t kRows = 6;
#endif

template <std::size_t kHeight>
struct Accumulators {
  Float of[kHeight][kVectors];
};

/// ACCESS(row, vector) for all accumulators. Unrolled, so that they are registers and no array in memory.
template <std::size_t kHeight, typename Access>
HWY_INLINE void for_each(const Access& access) {
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kHeight; ++r)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < kVectors; ++v) access(r, v);
}

/// A tile of fewer columns than a panel, as if it had all.
template <std::size_t kHeight>
struct WholeRows {
  static constexpr std::size_t kColumns = kVectors * hn::MaxLanes(FloatTag());

  void load(const ProductTile& tile) {
    for (std::size_t r = 0; r < kHeight; ++r) std::copy_n(tile.out + r * tile.stride, tile.columns, rows[r]);
  }
  void store(const ProductTile& tile) const {
    for (std::size_t r = 0; r < kHeight; ++r) std::copy_n(rows[r], tile.columns, tile.out + r * tile.stride);
  }

  HWY_ALIGN float rows[kHeight][kColumns];
};

template <std::size_t kHeight>
HWY_INLINE void begin(const ProductTile& tile, Accumulators<kHeight>& sum) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  if (tile.initial != nullptr) {
    for_each<kHeight>([&](std::size_t r, std::size_t v) { sum.of[r][v] = hn::LoadU(d, tile.initial + v * lanes); });
  } else if (tile.columns == kVectors * lanes) {
    for_each<kHeight>(
        [&](std::size_t r, std::size_t v) { sum.of[r][v] = hn::LoadU(d, tile.out + r * tile.stride + v * lanes); });
  } else {
    WholeRows<kHeight> whole{};
    whole.load(tile);
    for_each<kHeight>([&](std::size_t r, std::size_t v) { sum.of[r][v] = hn::Load(d, whole.rows[r] + v * lanes); });
  }
}

template <std::size_t kHeight>
HWY_INLINE void end(const ProductTile& tile, const Accumulators<kHeight>& sum) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  if (tile.columns == kVectors * lanes) {
    for_each<kHeight>(
        [&](std::size_t r, std::size_t v) { hn::StoreU(sum.of[r][v], d, tile.out + r * tile.stride + v * lanes); });
  } else {
    WholeRows<kHeight> whole;
    for_each<kHeight>([&](std::size_t r, std::size_t v) { hn::Store(sum.of[r][v], d, whole.rows[r] + v * lanes); });
    whole.store(tile);
  }
}

/// The rows of a tap at irregular distances.
template <std::size_t kHeight>
class PointedRows {
 public:
  static constexpr std::size_t kPointers = kRows;  // of a tap

  HWY_INLINE PointedRows(const float* const* rows, const ProductTile& tile) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kHeight; ++r) rows_[r] = rows[r] + tile.first;
  }
  HWY_INLINE Float element(std::size_t r) const { return hn::Set(FloatTag(), rows_[r][column_]); }
  HWY_INLINE void advance() { ++column_; }

 private:
  const float* rows_[kHeight];
  std::size_t column_ = 0;
};

/// The rows of a tap at regular distances. Three share a base, which x86 addresses by the distance and by its double:
/// fourteen pointers would not fit into the general-purpose registers.
template <std::size_t kHeight>
class EvenRows {
 public:
  static constexpr std::size_t kPointers = 1;

  HWY_INLINE EvenRows(const float* const* rows, const ProductTile& tile) : step_(tile.step) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kBases; ++i) bases_[i] = rows[0] + tile.first + 3 * i * step_;
  }
  HWY_INLINE Float element(std::size_t r) const { return hn::Set(FloatTag(), bases_[r / 3][r % 3 * step_]); }
  HWY_INLINE void advance() {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kBases; ++i) ++bases_[i];
  }

 private:
  static constexpr std::size_t kBases = (kHeight + 2) / 3;

  const float* bases_[kBases];
  std::size_t step_;
};

template <std::size_t kHeight, template <std::size_t> typename Rows>
void run_height(const ProductTile& tile) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  Accumulators<kHeight> sum;
  begin(tile, sum);
  const float* panel = tile.panel;
  const float* const* rows = tile.rows;
  for (std::size_t tap = 0; tap < tile.taps; ++tap, rows += Rows<kHeight>::kPointers) {
    Rows<kHeight> left(rows, tile);
    for (std::size_t k = 0; k < tile.depth; ++k, left.advance()) {
      const Float first = hn::Load(d, panel);
      const Float second = hn::Load(d, panel + lanes);
      panel += kVectors * lanes;
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kHeight; ++r) {
        const Float element = left.element(r);
        sum.of[r][0] = hn::MulAdd(element, first, sum.of[r][0]);
        sum.of[r][1] = hn::MulAdd(element, second, sum.of[r][1]);
      }
    }
  }
  end(tile, sum);
}

template <template <std::size_t> typename Rows, std::size_t... kHeights>
constexpr std::array<void (*)(const ProductTile&), sizeof...(kHeights)> by_height(
    std::index_sequence<kHeights...> /*heights*/) {
  return {run_height<kHeights + 1, Rows>...};
}

void run(const ProductTile& tile) {
  static constexpr auto kPointed = by_height<PointedRows>(std::make_index_sequence<kRows>());
  static constexpr auto kEven = by_height<EvenRows>(std::make_index_sequence<kRows>());
  (tile.step == 0 ? kPointed : kEven)[tile.height - 1](tile);
}

const ProductKernels& kernels() {
  static const ProductKernels kernels{kRows, kVectors * hn::Lanes(FloatTag()), run};
  return kernels;
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

const ProductKernels& product_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace saccade::cpu
#endif
