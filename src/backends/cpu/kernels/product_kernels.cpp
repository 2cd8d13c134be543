#include "cpu/kernels/product_kernels.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/integers.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/product_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "cpu/kernels/vector_math-inl.hpp"

// An element of a row is broadcast and multiplied by a row of the panel, which is one to three vectors wide. With two
// or three, the accumulators, the panel's vectors and the broadcast element take all of the registers (12 + 2 + 1 of 16
// up to AVX2, 28 + 2 + 1 of 32 with AVX-512), and there are fewer loads than multiply-adds, so that the multiply-adds
// are the bound. With one vector there is a load more than multiply-adds, for narrow products that would leave lanes of
// the others empty.
//
// Bound: 2 * taps * depth * height * columns operations / multiply-add peak.
HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {

using HalfWidthTag = hn::Half<FloatTag>;

/// Of COUNT elements those in the vector of D whose first lane is element FIRST.
template <class D>
HWY_INLINE std::size_t tail_of(D d, std::size_t count, std::size_t first) {
  return count <= first ? 0 : std::min(count - first, hn::Lanes(d));
}

/// A row of a tile or a panel: kVectors vectors, and half a vector if kHalfWidth.
template <std::size_t kVectors, bool kHalfWidth>
struct Row {
  static std::size_t columns() {
    return kVectors * hn::Lanes(FloatTag()) + (kHalfWidth ? hn::Lanes(HalfWidthTag()) : 0);
  }

  HWY_INLINE void add_product(Float element, const Row& panel) {
#pragma GCC unroll 3
    for (std::size_t v = 0; v < kVectors; ++v) whole[v] = hn::MulAdd(element, panel.whole[v], whole[v]);
    if constexpr (kHalfWidth)
      half_width = hn::MulAdd(hn::LowerHalf(HalfWidthTag(), element), panel.half_width, half_width);
  }

  HWY_INLINE void load(const float* p) {
    const FloatTag d;
#pragma GCC unroll 3
    for (std::size_t v = 0; v < kVectors; ++v) whole[v] = hn::LoadU(d, p + v * hn::Lanes(d));
    if constexpr (kHalfWidth) half_width = hn::LoadU(HalfWidthTag(), p + kVectors * hn::Lanes(d));
  }
  HWY_INLINE void store(float* p) const {
    const FloatTag d;
#pragma GCC unroll 3
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(whole[v], d, p + v * hn::Lanes(d));
    if constexpr (kHalfWidth) hn::StoreU(half_width, HalfWidthTag(), p + kVectors * hn::Lanes(d));
  }

  /// The first COUNT elements alone.
  HWY_INLINE void load(const float* p, std::size_t count) {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 3
    for (std::size_t v = 0; v < kVectors; ++v) whole[v] = load_tail(d, p + v * lanes, tail_of(d, count, v * lanes));
    if constexpr (kHalfWidth)
      half_width = load_tail(HalfWidthTag(), p + kVectors * lanes, tail_of(HalfWidthTag(), count, kVectors * lanes));
  }
  HWY_INLINE void store(float* p, std::size_t count) const {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 3
    for (std::size_t v = 0; v < kVectors; ++v) store_tail(d, whole[v], p + v * lanes, tail_of(d, count, v * lanes));
    if constexpr (kHalfWidth)
      store_tail(HalfWidthTag(), half_width, p + kVectors * lanes, tail_of(HalfWidthTag(), count, kVectors * lanes));
  }

  Float whole[kVectors];
  hn::Vec<HalfWidthTag> half_width;
};

/// A full tile.
template <std::size_t kTileRows, std::size_t kVectors, bool kHalfWidth = false>
struct Tile {
  static constexpr std::size_t kRows = kTileRows;
  using Row = HWY_NAMESPACE::Row<kVectors, kHalfWidth>;
};

/// The rows of a tap at irregular distances.
template <class T, std::size_t kHeight>
class PointedRows {
 public:
  static constexpr std::size_t kPointers = T::kRows;  // of a tap

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
template <class T, std::size_t kHeight>
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

template <class T, std::size_t kHeight, template <class, std::size_t> typename Rows>
void run_height(const ProductTile& tile) {
  using Row = typename T::Row;
  const std::size_t columns = Row::columns();
  const bool is_whole = tile.columns == columns;
  // Unrolled, so that the sums are registers and no array in memory.
  Row sums[kHeight];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kHeight; ++r) {
    if (tile.initial != nullptr)
      sums[r].load(tile.initial);
    else if (is_whole)
      sums[r].load(tile.out + r * tile.stride);
    else
      sums[r].load(tile.out + r * tile.stride, tile.columns);
  }
  const float* panel = tile.panel;
  const float* const* rows = tile.rows;
  for (std::size_t tap = 0; tap < tile.taps; ++tap, rows += Rows<T, kHeight>::kPointers) {
    Rows<T, kHeight> left(rows, tile);
    for (std::size_t k = 0; k < tile.depth; ++k, left.advance(), panel += columns) {
      Row right;
      right.load(panel);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kHeight; ++r) sums[r].add_product(left.element(r), right);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kHeight; ++r) {
    if (is_whole)
      sums[r].store(tile.out + r * tile.stride);
    else
      sums[r].store(tile.out + r * tile.stride, tile.columns);
  }
}

template <class T, template <class, std::size_t> typename Rows, std::size_t... kHeights>
constexpr std::array<void (*)(const ProductTile&), sizeof...(kHeights)> by_height(
    std::index_sequence<kHeights...> /*heights*/) {
  return {run_height<T, kHeights + 1, Rows>...};
}

template <class T>
void run(const ProductTile& tile) {
  static constexpr auto kPointed = by_height<T, PointedRows>(std::make_index_sequence<T::kRows>());
  static constexpr auto kEven = by_height<T, EvenRows>(std::make_index_sequence<T::kRows>());
  (tile.step == 0 ? kPointed : kEven)[tile.height - 1](tile);
}

template <class T>
ProductKernels kernels_of(std::int64_t cost) {
  return {T::kRows, T::Row::columns(), cost, run<T>};
}

/// Those for products of many columns first.
std::span<const ProductKernels> kernels() {
#if HWY_TARGET <= HWY_AVX3
  // Half a vector takes half of the time where 512 bits are executed in two passes (Zen 4). Elsewhere it takes all of
  // it, and costs as much as the two vectors that it replaces.
  static const std::array kernels{kernels_of<Tile<14, 2>>(16), kernels_of<Tile<9, 3>>(24),
                                  kernels_of<Tile<14, 1, true>>(13), kernels_of<Tile<14, 1>>(9)};
#else
  static const std::array kernels{kernels_of<Tile<6, 2>>(16), kernels_of<Tile<4, 3>>(24), kernels_of<Tile<12, 1>>(9)};
#endif
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

const ProductKernels& product_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)().front(); }

const ProductKernels& product_kernels(std::int64_t columns) {
  const auto cost = [columns](const ProductKernels& kernels) {
    return ceil_div(columns, static_cast<std::int64_t>(kernels.columns)) * kernels.cost;
  };
  return *std::ranges::min_element(HWY_DYNAMIC_DISPATCH(kernels)(), {}, cost);
}

}  // namespace saccade::cpu
#endif
