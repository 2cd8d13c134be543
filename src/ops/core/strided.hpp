#pragma once

#include <array>

#include "saccade/tensor.hpp"

namespace saccade {

/// A loop nest over N operands with common extents and their own element strides (0 repeats, a negative stride runs
/// backwards). Dimensions that are contiguous in every operand are merged, so that dense operands form one long run.
template <std::size_t N>
class StridedLoop {
 public:
  using Steps = std::array<std::int64_t, N>;

  /// All STRIDES have EXTENT's rank.
  StridedLoop(const Shape& extent, const std::array<Shape, N>& strides) {
    for (int axis = 0; axis < extent.rank(); ++axis) {
      if (extent[axis] == 0) empty_ = true;
      if (extent[axis] == 1) continue;
      Steps steps{};
      for (std::size_t i = 0; i < N; ++i) steps[i] = strides[i][axis];
      add(extent[axis], steps);
    }
  }

  /// Calls run(offsets, count, steps) for every innermost run, in row-major order: element k of operand i is at
  /// offsets[i] + k * steps[i]. START holds the operands' initial offsets.
  template <typename Run>
  void run(const Steps& start, Run&& run) const {
    if (empty_) return;
    if (rank_ == 0) return run(start, std::int64_t{1}, Steps{});
    std::array<std::int64_t, Shape::kMaxRank> index{};
    Steps offsets = start;
    const Level& inner = levels_[static_cast<std::size_t>(rank_ - 1)];
    do run(offsets, inner.extent, inner.steps);
    while (advance(index, offsets));
  }

 private:
  struct Level {
    std::int64_t extent = 1;
    Steps steps{};
  };

  void add(std::int64_t extent, const Steps& steps) {
    if (rank_ > 0 && !empty_) {
      Level& outer = levels_[static_cast<std::size_t>(rank_ - 1)];
      bool dense = true;
      for (std::size_t i = 0; i < N; ++i) dense = dense && outer.steps[i] == steps[i] * extent;
      if (dense) {
        outer = {outer.extent * extent, steps};
        return;
      }
    }
    levels_[static_cast<std::size_t>(rank_++)] = {extent, steps};
  }

  bool advance(std::array<std::int64_t, Shape::kMaxRank>& index, Steps& offsets) const {
    for (int axis = rank_ - 2; axis >= 0; --axis) {
      const auto at = static_cast<std::size_t>(axis);
      const Level& level = levels_[at];
      const bool wraps = ++index[at] == level.extent;
      for (std::size_t i = 0; i < N; ++i) offsets[i] += wraps ? level.steps[i] * (1 - level.extent) : level.steps[i];
      if (!wraps) return true;
      index[at] = 0;
    }
    return false;
  }

  std::array<Level, Shape::kMaxRank> levels_;
  int rank_ = 0;
  bool empty_ = false;
};

}  // namespace saccade
