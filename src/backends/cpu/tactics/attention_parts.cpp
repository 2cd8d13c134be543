#include "cpu/tactics/attention_parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/integers.hpp"
#include "cpu/kernels/row_kernels.hpp"

namespace saccade::cpu {
namespace {

/// Whether the offsets of its scratch memory fit into 64 bits: patterns of a plan file may be of any size.
bool is_countable(const AttentionPatterns& patterns) {
  constexpr double kMostFloats = 1e12;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  return real(patterns.batches()) * (real(patterns.keys()) + 32) *
             (real(patterns.channels()) + real(patterns.value_channels()) + 32) <
         kMostFloats;
}

}  // namespace

Offsets::Offsets(const AccessPattern& pattern) {
  for (std::size_t loop = 0; loop < AccessPattern::kLoops; ++loop)
    for (std::int64_t i = 0; i < pattern.iterations(loop); ++i)
      of[loop].push_back((loop == 0 ? pattern.offset : 0) + pattern.along(loop, i));
  for (std::size_t i = 0; i < of[2].size(); ++i) columns_contiguous &= of[2][i] == static_cast<std::int64_t>(i);
  row_step = pattern.loops[1].size() == 1 ? pattern.loops[1][0].step : -1;
}

AttentionSizes::AttentionSizes(const AttentionPatterns& patterns, int threads, std::int64_t most_queries)
    : batches(patterns.batches()),
      queries(patterns.queries()),
      keys(patterns.keys()),
      channels(patterns.channels()),
      value_channels(patterns.value_channels()),
      query(patterns.query),
      key(patterns.key),
      value(patterns.value),
      output(patterns.output) {
  if (patterns.mask) mask.emplace(*patterns.mask);
  const std::int64_t least = std::max(ceil_div(queries, most_queries), ceil_div(2 * threads, batches));
  block = ceil_div(queries, std::min(least, queries));
  blocks = ceil_div(queries, block);
}

void add_mask(const Offsets& offsets, const float* mask, std::int64_t first, std::int64_t count, float* scores) {
  const std::int64_t* columns = offsets.of[2].data() + first;
  if (offsets.columns_contiguous) {
    mask += *columns;
    for (std::int64_t n = 0; n < count; ++n) scores[n] += mask[n];
  } else {
    for (std::int64_t n = 0; n < count; ++n) scores[n] += mask[columns[n]];
  }
}

RunningSoftmax::Step RunningSoftmax::raise(float greatest_of_chunk) {
  const float before = std::exchange(greatest, std::max(greatest_of_chunk, greatest));
  // A row whose scores are all -infinity so far.
  const float shift = greatest == -std::numeric_limits<float>::infinity() ? 0 : greatest;
  return {shift, std::exp(before - shift)};
}

float add_chunk(RunningSoftmax& row, float* scores, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  const auto [shift, factor] = row.raise(row_kernels().reduce_row(Reduce::kMax, scores, size));
  row.sum = row.sum * factor + row_kernels().exp_row(scores, size, shift);
  return factor;
}

Support supports_attention(const NodeContext& context, DType dtype) {
  if (!context.node.is("StridedAttention", "saccade")) return Support::other_operator("not a StridedAttention");
  for (int i = 0; i < 3; ++i)
    if (context.input(i).type.dtype != dtype)
      return Support::no(fmt::format("only {} tensors are supported", to_string(dtype)));
  if (context.output().type.dtype != dtype) return Support::no("its output has another type");
  if (context.has(3) && context.input(3).type.dtype != DType::kFloat32) return Support::no("its mask is not float32");
  const auto patterns = patterns_in_memory(context.graph, context.node);
  if (!patterns) return Support::no("its channels-last access patterns are not affine");
  if (!is_countable(*patterns)) return Support::no("it is too large");
  return supports_post_ops(context);
}

}  // namespace saccade::cpu
