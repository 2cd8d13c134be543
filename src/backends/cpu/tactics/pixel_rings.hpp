#pragma once

#include <algorithm>
#include <vector>

#include "cpu/kernels/pixel_kernels.hpp"

namespace saccade::cpu {

/// Filtered rows of one component for one thread: a ring of the rows that a row of the tensor needs. Those of
/// consecutive rows of the tensor overlap.
class PixelRing {
 public:
  /// Allocates only if FILTER is larger than all before.
  void reserve(const ComponentFilter& filter) {
    taps_ = filter.down.taps();
    stride_ = static_cast<std::size_t>(filter.across.positions()) + kPixelPadding;
    const auto taps = static_cast<std::size_t>(taps_);
    rows_.resize(taps * stride_);
    numbers_.resize(taps);
    taken_.resize(taps);
    samples_.resize(static_cast<std::size_t>(filter.end - filter.begin) + kPixelPadding);
  }
  void forget() { std::ranges::fill(numbers_, -1); }

  bool has(int row) const { return numbers_[slot(row)] == row; }
  /// The samples of one frame row, padded.
  std::uint8_t* samples() { return samples_.data(); }
  /// Filters samples(), which are ROW's.
  void filter(int row, const FilterColumns& across, const FilterArithmetic& arithmetic) {
    filter_row(across, arithmetic, samples_.data(), at(row));
    numbers_[slot(row)] = row;
  }
  /// The filtered rows from FIRST on.
  const std::int32_t* const* rows(int first) {
    for (int k = 0; k < taps_; ++k) taken_[static_cast<std::size_t>(k)] = at(first + k);
    return taken_.data();
  }

 private:
  std::size_t slot(int row) const { return static_cast<std::size_t>(row % taps_); }
  std::int32_t* at(int row) { return rows_.data() + slot(row) * stride_; }

  int taps_ = 1;
  std::size_t stride_ = 0;
  std::vector<std::int32_t> rows_;
  std::vector<int> numbers_;  ///< by slot; -1: none
  std::vector<const std::int32_t*> taken_;
  std::vector<std::uint8_t> samples_;
};

/// Copies ROW of the COUNT components from FIRST on, which share a plane, to the samples of their rings.
inline void load_samples(std::array<PixelRing, 3>& rings, const Components& components, std::size_t first,
                         std::size_t count, const ComponentFilter& filter, int row) {
  const Component& part = components.parts[first];
  const auto extent = static_cast<std::size_t>(filter.end - filter.begin);
  if (components.mosaic)
    return demosaic(components.mosaic->row(filter.top + row), filter.begin, extent,
                    {rings[0].samples(), rings[1].samples(), rings[2].samples()});
  const std::uint8_t* line = part.data + static_cast<std::ptrdiff_t>(filter.top + row) * part.pitch +
                             static_cast<std::ptrdiff_t>(filter.begin) * part.step;
  if (count == 3) {
    // Red is first or last in memory.
    const bool reversed = components.parts[2].data < part.data;
    split_three(reversed ? line - 2 : line, extent,
                {rings[reversed ? 2 : 0].samples(), rings[1].samples(), rings[reversed ? 0 : 2].samples()});
    return;
  }
  gather_samples(line, part.step, extent, rings[first].samples());
}

}  // namespace saccade::cpu
