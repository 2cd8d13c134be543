#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/view.hpp"

namespace saccade::cpu {

/// One loop over several tensors: its size, and each tensor's element stride (0: broadcast).
struct Loop {
  static constexpr int kMaxTensors = 6;
  std::int64_t size = 1;
  std::array<std::int64_t, kMaxTensors> strides{};
};

/// The same iteration with the fewest loops: sorted by the strides of tensor 0 (innermost last), without loops of size
/// 1, adjacent loops merged if all tensors allow it. At least one loop remains; an empty loop is kept.
std::vector<Loop> collapse(std::vector<Loop> loops);

/// Element strides of a tensor broadcast to SHAPE by numpy's rule (0 where it repeats).
Shape broadcast_strides(const TensorView& tensor, const Shape& shape);

/// The offsets of all tensors while the loops except the innermost advance.
template <int kTensors>
class LoopIterator {
 public:
  /// LOOPS are the outer loops; starts at their iteration ROW.
  LoopIterator(const Loop* loops, int count, std::int64_t row) : loops_(loops), count_(count) {
    for (int i = count - 1; i >= 0; --i) {
      index_[static_cast<std::size_t>(i)] = row % loops[i].size;
      row /= loops[i].size;
      for (std::size_t t = 0; t < kTensors; ++t)
        offsets[t] += index_[static_cast<std::size_t>(i)] * loops[i].strides[t];
    }
  }

  void next() {
    for (int i = count_ - 1; i >= 0; --i) {
      const Loop& loop = loops_[i];
      std::int64_t& index = index_[static_cast<std::size_t>(i)];
      for (std::size_t t = 0; t < kTensors; ++t) offsets[t] += loop.strides[t];
      if (++index < loop.size) return;
      for (std::size_t t = 0; t < kTensors; ++t) offsets[t] -= loop.size * loop.strides[t];
      index = 0;
    }
  }

  std::array<std::int64_t, kTensors> offsets{};

 private:
  static constexpr std::size_t kMaxLoops = 2 * Shape::kMaxRank;
  const Loop* loops_;
  int count_;
  std::array<std::int64_t, kMaxLoops> index_{};
};

}  // namespace saccade::cpu
