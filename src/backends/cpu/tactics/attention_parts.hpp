#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "ops/layers/strided_attention.hpp"
#include "runtime/tactic.hpp"

// What attention in float32 and in bfloat16 share.
namespace saccade::cpu {

/// The memory offsets of an operand's elements: the sum of one for each loop.
struct Offsets {
  explicit Offsets(const AccessPattern& pattern);

  std::int64_t at(std::int64_t batch, std::int64_t row) const {
    return of[0][static_cast<std::size_t>(batch)] + of[1][static_cast<std::size_t>(row)];
  }
  /// COUNT columns of a row from FIRST on.
  template <typename Element>
  void copy(const Element* row, std::int64_t first, std::int64_t count, Element* to) const {
    const std::int64_t* columns = of[2].data() + first;
    if (columns_contiguous)
      std::copy_n(row + *columns, count, to);
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] = row[columns[i]];
  }

  std::array<std::vector<std::int64_t>, AccessPattern::kLoops> of;
  bool columns_contiguous = true;
  std::int64_t row_step = -1;  ///< -1: not uniform
};

/// Adds COUNT elements of a row of MASK, the first of which is element FIRST, to SCORES.
void add_mask(const Offsets& offsets, const float* mask, std::int64_t first, std::int64_t count, float* scores);

/// The online softmax of a row whose scores come in chunks.
struct RunningSoftmax {
  float greatest = -std::numeric_limits<float>::infinity();
  float sum = 0;

  /// What to subtract from the scores of the next chunk, whose greatest is GREATEST_OF_CHUNK, and the factor that the
  /// exponentials of the chunks before it are to be multiplied with.
  struct Step {
    float shift;
    float factor;
  };
  Step raise(float greatest_of_chunk);
};
/// Makes exponentials of the COUNT scores of the next chunk. Returns the factor that the exponentials of the chunks
/// before it are to be multiplied with.
float add_chunk(RunningSoftmax& row, float* scores, std::int64_t count);

/// Whether CONTEXT is a StridedAttention with query, key and value of DTYPE that fits into memory, with post-ops that
/// have kernels.
Support supports_attention(const NodeContext& context, DType dtype);

}  // namespace saccade::cpu
