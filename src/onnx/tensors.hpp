#pragma once

#include "base/memory_budget.hpp"
#include "onnx/external_data.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The element type with ONNX number DATA_TYPE. Throws Error (kUnsupported) on an unknown one.
DType dtype_of(int data_type);

/// Where tensor elements outside the model file are read from, and the memory that they may take.
struct TensorSource {
  const ExternalData& external;
  MemoryBudget& budget;
};

/// A tensor with its elements from raw bytes, typed fields or a file beside the model. Throws Error naming the tensor
/// if shape and data disagree or the budget is exceeded, before anything large is allocated.
Tensor read_tensor(const onnx::TensorProto& tensor, const TensorSource& source);

/// A sparse tensor, converted to dense.
Tensor read_sparse_tensor(const onnx::SparseTensorProto& sparse, const TensorSource& source);

}  // namespace saccade
