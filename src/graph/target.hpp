#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.hpp"

namespace saccade {

/// The memory layouts that a node supports for its tensors of rank 3 and more; see passes/choose_layouts.
enum class LayoutRule : std::uint8_t {
  kRowMajor,      ///< row-major only
  kChannelsLast,  ///< channels-last is fastest: convolutions, pooling
  kAny,           ///< either, the same for all of its tensors
};

/// The capabilities and preferences of the device that a graph is lowered for. Passes query it; a backend returns it
/// (Backend::target()). The default has no preferences and no kernels of its own. The functions take a node whose
/// operands are in the graph; the node itself may be a proposal. Any thread.
struct Target {
  std::function<LayoutRule(const Graph&, const Node&)> layout_rule;  ///< empty: all tensors stay row-major
  std::function<bool(const Graph&, const Node&)> can_fuse;           ///< as part of a saccade.Fused; empty: never
  std::function<bool(const Graph&, const Node&)> has_kernel;         ///< beside the reference kernel; empty: never
  /// For the node with its float32 operands in fp16 or bf16; narrow_floats converts no others. Empty: always.
  std::function<bool(const Graph&, const Node&, DType)> has_half_kernel;
  bool half_precision = true;          ///< computes fp16 and bf16; otherwise such nodes are computed in float32
  bool splits_conv_transpose = false;  ///< a Conv and DepthToSpace are faster than ConvTranspose without overlap
  bool fuses_attention = false;        ///< saccade.StridedAttention is one kernel, not MatMul, Softmax, MatMul
};

}  // namespace saccade
