#include "ops/core/copy.hpp"
#include "ops/core/values.hpp"

// Operators whose output has the input's elements in the same order, under another shape; and Dropout, which is not a
// view if its mask is read.
namespace saccade {
namespace {

void infer_identity(InferContext& context) { context.output(0, context.dtype(0), context.shape(0)); }

/// Dimensions of the Reshape's target: 0 copies the input's (unless allowzero), -1 is inferred.
void infer_reshape(InferContext& context) {
  const Shape& from = context.shape(0);
  const auto wanted = context.integers(1, "Reshape's target shape");
  const bool zero_copies = context.attributes().integer("allowzero", 0) == 0;
  Shape to;
  int open = -1;
  std::int64_t product = 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::int64_t dim = wanted[i];
    if (dim == 0 && zero_copies) {
      if (static_cast<int>(i) >= from.rank())
        fail(ErrorCode::kInvalidFile, "Reshape copies dimension {}, which the input lacks", i);
      dim = from[static_cast<int>(i)];
    }
    if (dim == -1) {
      if (open >= 0) fail(ErrorCode::kInvalidFile, "Reshape has two dimensions of -1");
      open = static_cast<int>(i);
      dim = 1;
    }
    if (dim < 0) fail(ErrorCode::kInvalidFile, "Reshape has a dimension of {}", dim);
    to.push_back(dim);
    product = checked_multiply(product, dim);
  }
  if (open >= 0) to[open] = product == 0 ? 0 : from.elements() / product;
  if (to.elements() != from.elements())
    fail(ErrorCode::kInvalidFile, "Reshape can't turn {} into {}", from.to_string(), to.to_string());
  context.output(0, context.dtype(0), to);
}

/// In inference it forwards its input; the mask, which some models read, is all true.
void infer_dropout(InferContext& context) {
  const Tensor* training = context.known(2);
  if (context.has(2) && (training == nullptr || std::to_integer<int>(training->raw()[0]) != 0))
    fail(ErrorCode::kUnsupported, "Dropout in training mode is not supported; export for inference: model.eval()");
  infer_identity(context);
  context.output(1, DType::kBool, context.shape(0));
}

void dropout(const KernelContext& context) {
  if (context.wants(0)) copy_elements(context);
  if (context.wants(1)) std::ranges::fill(context.out<bool>(1), true);
}

void infer_flatten(InferContext& context) {
  const Shape& from = context.shape(0);
  const std::int64_t wanted = context.attributes().integer("axis", 1);
  const int axis = wanted == from.rank() ? from.rank() : InferContext::axis(wanted, from.rank());
  Shape to{1, 1};
  for (int i = 0; i < from.rank(); ++i) to[i < axis ? 0 : 1] *= from[i];
  context.output(0, context.dtype(0), to);
}

void infer_squeeze(InferContext& context) {
  const Shape& from = context.shape(0);
  std::vector<bool> drop(static_cast<std::size_t>(from.rank()), false);
  if (context.has(1)) {
    const auto axes = context.integers(1, "Squeeze's axes");
    if (from.rank() == 0 && !axes.empty()) fail(ErrorCode::kInvalidFile, "Squeeze can't drop an axis of a scalar");
    for (std::int64_t axis : axes) drop[static_cast<std::size_t>(InferContext::axis(axis, from.rank()))] = true;
  } else {
    for (int i = 0; i < from.rank(); ++i) drop[static_cast<std::size_t>(i)] = from[i] == 1;
  }
  Shape to;
  for (int i = 0; i < from.rank(); ++i) {
    if (!drop[static_cast<std::size_t>(i)]) {
      to.push_back(from[i]);
    } else if (from[i] != 1) {
      fail(ErrorCode::kInvalidFile, "Squeeze can't drop axis {} of {}", i, from.to_string());
    }
  }
  context.output(0, context.dtype(0), to);
}

void infer_unsqueeze(InferContext& context) {
  const Shape& from = context.shape(0);
  const auto axes = context.integers(1, "Unsqueeze's axes");
  const int rank = from.rank() + static_cast<int>(axes.size());
  if (rank > Shape::kMaxRank)
    fail(ErrorCode::kUnsupported, "tensors of more than {} dimensions are not supported", Shape::kMaxRank);
  Shape to = Shape::filled(rank, -1);
  for (std::int64_t axis : axes) to[InferContext::axis(axis, rank)] = 1;
  int next = 0;
  for (int i = 0; i < rank; ++i) {
    if (to[i] == 1) continue;
    if (next == from.rank()) fail(ErrorCode::kInvalidFile, "Unsqueeze names an axis twice");
    to[i] = from[next++];
  }
  context.output(0, context.dtype(0), to);
}

constexpr OpTraits kIdentityTraits{.elementwise = Elementwise::kUnary,
                                   .movement = Movement::kView,
                                   .layout_agnostic = true,
                                   .identity_when_alike = true,
                                   .float_inputs = 1,
                                   .cost = {.per = CostPer::kNothing}};

constexpr OpTraits kDropoutTraits{.arity = {1, 3}, .identity_when_alike = true, .cost = {.per = CostPer::kNothing}};

constexpr Op kViewOps[] = {
    {"", "Identity", infer_identity, copy_elements, kIdentityTraits},
    {"", "Dropout", infer_dropout, dropout, kDropoutTraits},
    {"", "Reshape", infer_reshape, copy_elements, OpTraits::view({2, 2})},
    {"", "Flatten", infer_flatten, copy_elements, OpTraits::view()},
    {"", "Squeeze", infer_squeeze, copy_elements, OpTraits::view({1, 2})},
    {"", "Unsqueeze", infer_unsqueeze, copy_elements, OpTraits::view({2, 2})},
};

}  // namespace

std::span<const Op> view_ops() { return kViewOps; }

}  // namespace saccade
