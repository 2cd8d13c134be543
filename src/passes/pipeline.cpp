#include "passes/core/pass.hpp"

// The passes in order. A pass is a file here, a line below and a test.
//
// - Types first, because later passes match float32.
// - Constants, which every other pass matches. Identities are removed before, because folding one copies its constant.
// - Nodes without effect, so that the nodes of a pattern are adjacent.
// - Patterns of several nodes become one; those with Reshapes before these are merged with others.
// - Per-channel arithmetic is folded into weights, and the rest after a GEMM or convolution becomes post-ops.
// - Operators that others compute faster, with the post-ops that they have.
// - Half precision, when weights are final; layouts, when nodes are.
// - Fusion into one launch, which depends on types and layouts.
//
// clang-format off
#define SACCADE_PASSES(LOCAL, GRAPH, WIDEN)                                                             \
  LOCAL(eliminate_dead_code, "remove unused nodes")                                                     \
  LOCAL(remove_identity, "remove nodes that return their input")                                        \
  WIDEN(widen_halves, "compute float16 and bfloat16 nodes in float32")                                  \
  LOCAL(lower_attention, "lower Attention to MatMul, Softmax, MatMul")                                  \
  LOCAL(lower_strided_attention, "lower StridedAttention to MatMul, Softmax, MatMul")                   \
  LOCAL(lower_quantized, "pool and concatenate 8-bit integers of different scales as floats")           \
  LOCAL(fold_constants, "evaluate nodes of constants and shapes")                                       \
  LOCAL(remove_identity, "remove nodes that return their input")                                        \
  LOCAL(fuse_group_norm, "fuse Reshape, InstanceNormalization, Reshape, Mul, Add to GroupNormalization")\
  LOCAL(lower_einsum, "lower Einsum to MatMul")                                                         \
  LOCAL(eliminate_common_subexpressions, "merge identical nodes with the same inputs")                  \
  LOCAL(merge_reshapes, "merge consecutive Reshapes")                                                   \
  LOCAL(cancel_transposes, "merge consecutive Transposes, cancel those around element-wise nodes")      \
  LOCAL(remove_identity, "remove nodes that return their input")                                        \
  LOCAL(fuse_silu, "fuse x * Sigmoid(x) to Silu")                                                       \
  LOCAL(fuse_gelu, "fuse x * 0.5 * (1 + Erf(x / sqrt(2))) to Gelu")                                     \
  LOCAL(fuse_hard_swish, "fuse x * HardSigmoid(x) with 1/6 and 1/2 to HardSwish")                       \
  LOCAL(fuse_softmax, "fuse Exp divided by its ReduceSum to Softmax")                                   \
  LOCAL(fuse_attention, "fuse scaled dot-product attention, with the movement of heads")                \
  LOCAL(fold_batch_norm, "fold BatchNormalization into the weights before it, or into Mul and Add")     \
  LOCAL(fold_bias, "fold an Add of a constant into the bias")                                           \
  LOCAL(fold_scale, "fold a Mul by a constant into the weights")                                        \
  LOCAL(fold_bias, "fold an Add of a constant into the bias")                                           \
  LOCAL(fuse_activation, "fuse an activation into the node before it as a post-op")                     \
  LOCAL(fold_behind_clip, "fold a scalar behind Relu or Clip into weights, bias and bounds")            \
  LOCAL(fuse_residual, "fuse a residual Add into a convolution or GEMM as a post-op")                   \
  LOCAL(fuse_activation, "fuse an activation into the node before it as a post-op")                     \
  LOCAL(lower_conv_transpose, "lower ConvTranspose without overlap to Conv and DepthToSpace")            \
  WIDEN(narrow_floats, "compute convolutions, GEMMs and their inputs in half precision")                \
  LOCAL(fuse_preprocess_cast, "fuse a Cast to half precision into the Preprocess before it")            \
  WIDEN(allow_tf32, "round operands of convolutions, GEMMs and attention to tf32")                      \
  GRAPH(choose_layouts, "choose channels-last nodes and insert Reorders between layouts")               \
  WIDEN(fold_layer_norm, "fold LayerNormalization into half-precision GEMMs")                           \
  LOCAL(fuse_elements, "fuse element-wise and data-movement operators into one kernel")
// clang-format on

namespace saccade {

#define SACCADE_DECLARE_LOCAL(name, summary) std::optional<Patch> name(const PassContext&, NodeId);
#define SACCADE_DECLARE_GRAPH(name, summary) std::optional<Patch> name(const PassContext&);
SACCADE_PASSES(SACCADE_DECLARE_LOCAL, SACCADE_DECLARE_GRAPH, SACCADE_DECLARE_GRAPH)

std::span<const Pass> pipeline() {
#define SACCADE_LIST(name, summary) {#name, summary, name},
#define SACCADE_LIST_WIDENING(name, summary) {#name, summary, name, true},
  static const Pass kPasses[] = {SACCADE_PASSES(SACCADE_LIST, SACCADE_LIST, SACCADE_LIST_WIDENING)};
  return kPasses;
}

}  // namespace saccade
