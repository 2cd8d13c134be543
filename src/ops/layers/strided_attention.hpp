#pragma once

#include <optional>
#include <span>

#include "graph/graph.hpp"
#include "graph/target.hpp"
#include "ops/layers/access_pattern.hpp"

namespace saccade {

/// saccade.StridedAttention: output[b, m, e] is the sum over n of weight[b, m, n] * value[b, n, e], the weights being
/// softmax over n of scale * (the sum over c of query[b, m, c] * key[b, n, c]) + mask[b, m, n]. Each of the five has an
/// access pattern on an input or the output, so that heads which a GEMM or convolution produced side by side need not
/// be split or concatenated. A batch is a head of an image. Inputs are query, key, value, which have the output's type,
/// and an optional mask of any float type; they may be the same tensor. Attributes:
///   query, key, value, mask, output  access patterns of (b, m, c), (b, n, c), (b, n, e), (b, m, n), (b, m, e), as
///   integers
///   shape                            the output's; its pattern accesses every element once
///   scale                            default 1
struct AttentionPatterns {
  AccessPattern query;
  AccessPattern key;
  AccessPattern value;
  std::optional<AccessPattern> mask;
  AccessPattern output;

  std::int64_t batches() const { return output.iterations(0); }
  std::int64_t queries() const { return output.iterations(1); }
  std::int64_t keys() const { return key.iterations(1); }
  std::int64_t channels() const { return query.iterations(2); }
  std::int64_t value_channels() const { return output.iterations(2); }
};

/// The access patterns of a node whose INPUTS have so many elements (0: omitted), with an output of SHAPE. Throws Error
/// (kInvalidFile) if they do not fit each other or their tensors.
AttentionPatterns attention_patterns(const Attributes& attributes, std::span<const std::int64_t> inputs,
                                     const Shape& shape);
/// Those of a node of GRAPH.
AttentionPatterns attention_patterns(const Graph& graph, const Node& node);
/// The same in terms of memory offsets, for the layouts of the node's tensors; nullopt if one is not affine there.
std::optional<AttentionPatterns> patterns_in_memory(const Graph& graph, const Node& node);

/// The layout in which more of a StridedAttention's operands have contiguous channels, which kernels load as vectors.
LayoutRule attention_layout_rule(const Graph& graph, const Node& node);

}  // namespace saccade
