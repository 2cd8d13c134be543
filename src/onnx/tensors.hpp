#pragma once

#include "base/memory_budget.hpp"
#include "onnx/external_data.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The element type that ONNX numbers DATA_TYPE. Throws Error (kUnsupported) on one that Saccade doesn't know.
DType dtype_of(int data_type);

/// Where the elements of a model's tensors come from besides its file, and what they may take.
struct TensorSource {
  const ExternalData& external;
  MemoryBudget& budget;
};

/// A tensor with its elements, wherever they lie: raw bytes, typed fields or a file beside the model.
/// Throws Error naming the tensor where shape and data disagree or the budget is exceeded; nothing large is allocated
/// before that is known.
Tensor read_tensor(const onnx::TensorProto& tensor, const TensorSource& source);

/// A sparse tensor, made dense.
Tensor read_sparse_tensor(const onnx::SparseTensorProto& sparse, const TensorSource& source);

}  // namespace saccade
