#include "passes/core/pass.hpp"

// The passes in the order in which they run. A pass is a file here, a line below and a test.
//
// Types first, as what follows looks for float32; then constants, as every other pass looks for them (but what hands a
// constant on must not be computed: it would be copied); then nodes that do nothing, so that patterns stand close
// together; then patterns of several nodes become one (the one of Reshapes before these are merged with their
// neighbours); then per-channel arithmetic goes into weights; then what is left behind a product becomes its post-ops;
// halves where they are asked for, when weights are final; memory layouts when the nodes are; and last what a backend
// runs as one launch, in the types and layouts that its operands have by now.
//
// clang-format off
#define SACCADE_PASSES(LOCAL, GRAPH, WIDEN)                                                             \
  LOCAL(eliminate_dead_code, "drop nodes that nothing reads")                                           \
  LOCAL(remove_identity, "drop nodes whose output is their input")                                      \
  WIDEN(widen_halves, "compute in float32 what is in float16 or bfloat16")                              \
  LOCAL(lower_attention, "make two products and a Softmax of an Attention")                             \
  LOCAL(lower_strided_attention, "make two products and a Softmax of what fuse_attention made one node of") \
  LOCAL(lower_quantized, "average and join 8-bit integers of different scales as real numbers")         \
  LOCAL(fold_constants, "compute nodes that see constants or shapes alone")                             \
  LOCAL(remove_identity, "drop nodes whose output is their input")                                      \
  LOCAL(fuse_group_norm, "Reshape, InstanceNormalization, Reshape, Mul and Add are GroupNormalization") \
  LOCAL(lower_einsum, "make a product of matrices of an Einsum")                                        \
  LOCAL(eliminate_common_subexpressions, "merge nodes that do the same to the same inputs")             \
  LOCAL(merge_reshapes, "make one Reshape of several in a row")                                         \
  LOCAL(cancel_transposes, "compose Transposes in a row, and cancel those around element-wise nodes")   \
  LOCAL(remove_identity, "drop nodes whose output is their input")                                      \
  LOCAL(fuse_silu, "x * Sigmoid(x) is Silu")                                                            \
  LOCAL(fuse_gelu, "x * 0.5 * (1 + Erf(x / sqrt(2))) is Gelu")                                          \
  LOCAL(fuse_hard_swish, "x * HardSigmoid(x) with 1/6 and 1/2 is HardSwish")                            \
  LOCAL(fuse_softmax, "an exponential over its sum is Softmax")                                         \
  LOCAL(fuse_attention, "two products with a Softmax between them, and what moves their heads, are one attention")  \
  LOCAL(fold_batch_norm, "put BatchNormalization into the weights before it, or make it Mul and Add")   \
  LOCAL(fold_bias, "put an Add of a constant behind a product into its bias")                           \
  LOCAL(fold_scale, "put a Mul by a constant behind a product into its weights")                        \
  LOCAL(fold_bias, "put an Add of a constant behind a product into its bias")                           \
  LOCAL(fuse_activation, "make an activation a post-op of the node before it")                          \
  LOCAL(fuse_residual, "make an Add of a tensor behind a product its post-op")                          \
  LOCAL(fuse_activation, "make an activation a post-op of the node before it")                          \
  WIDEN(narrow_floats, "compute in float16 or bfloat16 what leads to convolutions and products")        \
  WIDEN(allow_tf32, "let convolutions, products and attentions of float32 round to tf32")               \
  GRAPH(choose_layouts, "choose which nodes work channels-last, and reorder in between")                \
  WIDEN(fold_layer_norm, "let products of halves work out the LayerNormalization before them")          \
  LOCAL(fuse_elements, "make one node of element-wise operators and moves that follow each other")
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
