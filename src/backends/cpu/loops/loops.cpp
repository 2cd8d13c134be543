#include "cpu/loops/loops.hpp"

#include <algorithm>
#include <cstdlib>

namespace saccade::cpu {
namespace {

/// Whether OUTER and INNER can be merged for every tensor.
bool mergeable(const Loop& outer, const Loop& inner) {
  for (std::size_t t = 0; t < Loop::kMaxTensors; ++t)
    if (outer.strides[t] != inner.strides[t] * inner.size) return false;
  return true;
}

}  // namespace

std::vector<Loop> collapse(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.size == 1; });
  std::ranges::stable_sort(
      loops, [](const Loop& a, const Loop& b) { return std::abs(a.strides[0]) > std::abs(b.strides[0]); });
  std::vector<Loop> merged;
  for (const Loop& loop : loops) {
    if (!merged.empty() && mergeable(merged.back(), loop)) {
      const std::int64_t size = merged.back().size * loop.size;
      merged.back() = loop;
      merged.back().size = size;
    } else {
      merged.push_back(loop);
    }
  }
  if (merged.empty()) {
    merged.emplace_back();
    merged.back().strides.fill(1);
  }
  return merged;
}

Shape broadcast_strides(const TensorView& tensor, const Shape& shape) {
  const Shape own = tensor.strides();
  Shape strides = Shape::filled(shape.rank(), 0);
  const int missing = shape.rank() - own.rank();
  for (int i = 0; i < own.rank(); ++i) strides[i + missing] = tensor.shape[i] == 1 ? 0 : own[i];
  return strides;
}

}  // namespace saccade::cpu
