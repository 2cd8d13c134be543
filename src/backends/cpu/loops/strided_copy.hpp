#pragma once

#include "cpu/loops/loops.hpp"

namespace saccade::cpu {

/// Copies elements of any size between two strided arrays; dimensions are collapsed by the constructor. Rows that are
/// contiguous in both are copied with memcpy; a transpose of elements of 2 or 4 bytes goes through registers in blocks.
class StridedCopy {
 public:
  /// LOOPS: tensor 0 is the destination, tensor 1 the source (elements).
  StridedCopy(std::vector<Loop> loops, std::size_t element_bytes);

  /// SRC and DST may not overlap.
  void run(const std::byte* src, std::byte* dst) const;

 private:
  enum class Kind { kEmpty, kRows, kTransposed, kElements };

  void rows(const std::byte* src, std::byte* dst) const;
  template <typename Element>
  void transposed(const std::byte* src, std::byte* dst) const;
  void elements(const std::byte* src, std::byte* dst) const;

  std::vector<Loop> loops_;  // outer loops first; the last is the destination's innermost
  std::size_t element_bytes_;
  Kind kind_ = Kind::kElements;
  std::int64_t outer_rows_ = 1;
  Loop columns_;  // kTransposed: the loop along which the source is contiguous, not in loops_
};

}  // namespace saccade::cpu
