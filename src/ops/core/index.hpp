#pragma once

#include "ops/core/op.hpp"

namespace saccade {

/// The error text for an index out of the range of a dimension of DIM.
inline std::string outside(std::int64_t index, std::int64_t dim) {
  return fmt::format("index {} is outside a dimension of {}", index, dim);
}

/// An index from the start of a dimension of DIM; a negative one counts from its end. Throws Error (kInvalidArgument)
/// if it is out of range, since it would access other memory.
inline std::int64_t checked_index(std::int64_t index, std::int64_t dim) {
  if (index < -dim || index >= dim) throw Error(ErrorCode::kInvalidArgument, outside(index, dim));
  return index < 0 ? index + dim : index;
}

/// The attribute "axis" of an operator that does not accept a scalar, as 0 .. rank - 1. Throws Error (kInvalidFile).
inline int axis_of(const Attributes& attributes, const Shape& shape, std::int64_t otherwise = 0) {
  if (shape.rank() == 0) fail(ErrorCode::kInvalidFile, "a scalar has no axis");
  return InferContext::axis(attributes.integer("axis", otherwise), shape.rank());
}

/// Indices are int32 or int64; throws Error (kInvalidFile) if input I is neither.
inline void check_indices(const InferContext& context, int i) {
  if (context.dtype(i) != DType::kInt32 && context.dtype(i) != DType::kInt64)
    fail(ErrorCode::kInvalidFile, "indices must be int32 or int64, not {}", to_string(context.dtype(i)));
}

}  // namespace saccade
