#pragma once

#include "onnx/external_data.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The element type that ONNX numbers DATA_TYPE. Throws Error (kUnsupported) on one that Saccade doesn't know.
DType dtype_of(int data_type);

/// A tensor with its elements, wherever they lie: raw bytes, typed fields or a file beside the model.
/// Throws Error naming the tensor where shape and data disagree; nothing large is allocated before that is known.
Tensor read_tensor(const onnx::TensorProto& tensor, const ExternalData& external);

/// A sparse tensor, made dense.
Tensor read_sparse_tensor(const onnx::SparseTensorProto& sparse, const ExternalData& external);

}  // namespace saccade
