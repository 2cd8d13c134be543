#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/loops/element_program.hpp"
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

/// The sizes of an attention, where its operands are, and how it is divided into parts.
struct AttentionSizes {
  AttentionSizes(const AttentionPatterns& patterns, int threads, std::int64_t most_queries);

  std::int64_t parts() const { return batches * blocks; }
  std::int64_t part_operations() const { return 2 * block * keys * (channels + value_channels); }

  std::int64_t batches;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t channels;
  std::int64_t value_channels;
  Offsets query;
  Offsets key;
  Offsets value;
  Offsets output;
  std::optional<Offsets> mask;

  std::int64_t block;   ///< queries of a part: MOST_QUERIES, or fewer so that there are parts for all threads
  std::int64_t blocks;  ///< of a batch
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

/// A launch of Bound, which has Bound::Sizes, Bound::scratch_bytes(sizes, threads) and Bound::detail(sizes).
template <typename Bound>
class AttentionLaunch : public Launch {
 public:
  explicit AttentionLaunch(const NodeContext& context)
      : sizes_(*patterns_in_memory(context.graph, context.node), context.threads),
        scale_(context.node.attributes.real("scale", 1)),
        threads_(std::max(context.threads, 1)) {}

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(Bound::scratch_bytes(sizes_, threads_));
  }
  std::string detail() const override { return Bound::detail(sizes_); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<Bound>(sizes_, scale_, bindings);
  }

 private:
  typename Bound::Sizes sizes_;
  float scale_;
  int threads_;
};

/// The tactic of Bound's launch for tensors of one type.
template <typename Bound>
class AttentionTactic : public Tactic {
 public:
  AttentionTactic(std::string_view name, DType dtype) : name_(name), dtype_(dtype) {}

  std::string_view name() const override { return name_; }
  Support supports(const NodeContext& context) const override { return supports_attention(context, dtype_); }
  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return with_post_ops(context, std::make_unique<AttentionLaunch<Bound>>(context));
  }

 private:
  std::string_view name_;
  DType dtype_;
};

}  // namespace saccade::cpu
