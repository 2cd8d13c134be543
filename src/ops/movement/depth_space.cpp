#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// DepthToSpace and SpaceToDepth: a transposition of the input with the block as two dimensions of its own.
namespace saccade {
namespace {

/// Whether the channel precedes the position in the block (CRD) or follows it (DCR).
bool is_channel_outermost(const Attributes& attributes) { return attributes.text("mode", "DCR") == "CRD"; }

std::int64_t block_size(const InferContext& context) {
  const std::string mode = context.attributes().text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    fail(ErrorCode::kInvalidFile, "{}'s mode '{}' is not DCR or CRD", context.node().op, mode);
  const std::int64_t block = context.attributes().integer("blocksize", 0);
  if (context.shape(0).rank() != 4 || block <= 0)
    fail(ErrorCode::kInvalidFile, "blocks of {} can't be moved in a tensor of shape {}", block,
         context.shape(0).to_string());
  return block;
}

void infer_depth_to_space(InferContext& context) {
  const std::int64_t block = block_size(context);
  const std::int64_t area = checked_multiply(block, block);
  Shape to = context.shape(0);
  if (to[1] % area != 0)
    fail(ErrorCode::kInvalidFile, "DepthToSpace can't spread {} channels over blocks of {}", to[1], block);
  to[1] /= area;
  to[2] = checked_multiply(to[2], block);
  to[3] = checked_multiply(to[3], block);
  context.output(0, context.dtype(0), to);
}

void infer_space_to_depth(InferContext& context) {
  const std::int64_t block = block_size(context);
  Shape to = context.shape(0);
  if (to[2] % block != 0 || to[3] % block != 0)
    fail(ErrorCode::kInvalidFile, "SpaceToDepth can't cut {} into blocks of {}", to.to_string(), block);
  to[1] = checked_multiply(to[1], checked_multiply(block, block));
  to[2] /= block;
  to[3] /= block;
  context.output(0, context.dtype(0), to);
}

/// The strides of dimensions N, C, block row, block column, H, W in the deep tensor (blocks in channels) and in the
/// wide one (blocks in rows and columns).
Shape deep_strides(const TensorView& view, std::int64_t block, bool channel_outermost) {
  const Shape s = view.strides();
  const std::int64_t channels = view.shape[1] / (block * block);
  if (channel_outermost) return {s[0], s[1] * block * block, s[1] * block, s[1], s[2], s[3]};
  return {s[0], s[1], s[1] * channels * block, s[1] * channels, s[2], s[3]};
}

Shape wide_strides(const TensorView& view, std::int64_t block) {
  const Shape s = view.strides();
  return {s[0], s[1], s[2], s[3], s[2] * block, s[3] * block};
}

Shape extent_of(const TensorView& wide, std::int64_t block) {
  return {wide.shape[0], wide.shape[1], block, block, wide.shape[2] / block, wide.shape[3] / block};
}

void depth_to_space(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const std::int64_t block = context.attributes().integer("blocksize", 1);
  strided_copy(to.dtype, extent_of(to, block),
               {from.data, 0, deep_strides(from, block, is_channel_outermost(context.attributes()))},
               {to.data, 0, wide_strides(to, block)});
}

void space_to_depth(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  const std::int64_t block = context.attributes().integer("blocksize", 1);
  strided_copy(to.dtype, extent_of(from, block), {from.data, 0, wide_strides(from, block)},
               {to.data, 0, deep_strides(to, block, is_channel_outermost(context.attributes()))});
}

constexpr Op kDepthSpaceOps[] = {
    {"", "DepthToSpace", infer_depth_to_space, depth_to_space, OpTraits::rearrange()},
    {"", "SpaceToDepth", infer_space_to_depth, space_to_depth, OpTraits::rearrange()},
};

}  // namespace

std::span<const Op> depth_space_ops() { return kDepthSpaceOps; }

}  // namespace saccade
