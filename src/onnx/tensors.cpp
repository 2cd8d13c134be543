#include "onnx/tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX's raw bytes are little-endian");

using onnx::TensorProto;

/// The repeated protobuf field that holds a type's elements if they are not raw bytes.
enum class TensorField : std::uint8_t { kFloat, kDouble, kInt32, kInt64, kUInt64, kString };

struct TypeRow {
  int data_type;
  DType dtype;
  TensorField field;
};

constexpr std::array kTypes = {
    TypeRow{TensorProto::FLOAT, DType::kFloat32, TensorField::kFloat},
    TypeRow{TensorProto::UINT8, DType::kUInt8, TensorField::kInt32},
    TypeRow{TensorProto::INT8, DType::kInt8, TensorField::kInt32},
    TypeRow{TensorProto::UINT16, DType::kUInt16, TensorField::kInt32},
    TypeRow{TensorProto::INT16, DType::kInt16, TensorField::kInt32},
    TypeRow{TensorProto::INT32, DType::kInt32, TensorField::kInt32},
    TypeRow{TensorProto::INT64, DType::kInt64, TensorField::kInt64},
    TypeRow{TensorProto::STRING, DType::kString, TensorField::kString},
    TypeRow{TensorProto::BOOL, DType::kBool, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT16, DType::kFloat16, TensorField::kInt32},
    TypeRow{TensorProto::DOUBLE, DType::kFloat64, TensorField::kDouble},
    TypeRow{TensorProto::UINT32, DType::kUInt32, TensorField::kUInt64},
    TypeRow{TensorProto::UINT64, DType::kUInt64, TensorField::kUInt64},
    TypeRow{TensorProto::COMPLEX64, DType::kComplex64, TensorField::kFloat},
    TypeRow{TensorProto::COMPLEX128, DType::kComplex128, TensorField::kDouble},
    TypeRow{TensorProto::BFLOAT16, DType::kBFloat16, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT8E4M3FN, DType::kFloat8E4M3FN, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT8E4M3FNUZ, DType::kFloat8E4M3FNUZ, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT8E5M2, DType::kFloat8E5M2, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT8E5M2FNUZ, DType::kFloat8E5M2FNUZ, TensorField::kInt32},
    TypeRow{TensorProto::UINT4, DType::kUInt4, TensorField::kInt32},
    TypeRow{TensorProto::INT4, DType::kInt4, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT4E2M1, DType::kFloat4E2M1, TensorField::kInt32},
    TypeRow{TensorProto::FLOAT8E8M0, DType::kFloat8E8M0, TensorField::kInt32},
    TypeRow{TensorProto::UINT2, DType::kUInt2, TensorField::kInt32},
    TypeRow{TensorProto::INT2, DType::kInt2, TensorField::kInt32},
};

const TypeRow& row_of(int data_type) {
  const auto* found = std::ranges::find(kTypes, data_type, &TypeRow::data_type);
  if (found == kTypes.end()) fail(ErrorCode::kUnsupported, "ONNX's element type {} is not supported", data_type);
  return *found;
}

template <typename Dims>
Shape shape_of(const Dims& dims) {
  return Shape(std::span<const std::int64_t>(dims.data(), static_cast<std::size_t>(dims.size())));
}

Tensor allocate(DType dtype, const Shape& shape, MemoryBudget& budget) {
  budget.take(bytes_of(dtype, shape));
  return {dtype, shape};
}

/// VALUES converted to To, counted before the tensor is allocated. A complex element takes two numbers; a number of a
/// packed type holds as many elements as fit into a byte.
template <typename To, typename Values>
Tensor from_field(DType dtype, const Shape& shape, const Values& values, MemoryBudget& budget) {
  const std::size_t count = bytes_of(dtype, shape) / sizeof(To);
  if (static_cast<std::size_t>(values.size()) != count) {
    if (values.empty())
      fail(ErrorCode::kInvalidFile,
           "its {} elements are missing from the file (weights stripped, or external data missing?)", shape.elements());
    fail(ErrorCode::kInvalidFile, "a {} tensor of shape {} takes {} numbers, but the file holds {}", to_string(dtype),
         shape.to_string(), count, values.size());
  }
  Tensor tensor = allocate(dtype, shape, budget);
  auto* to = reinterpret_cast<To*>(tensor.raw());
  std::ranges::transform(values, to, [](auto value) { return static_cast<To>(value); });
  return tensor;
}

/// Elements of a type that is stored in the int32 field, truncated to the type's own width.
Tensor from_int32_field(DType dtype, const Shape& shape, const TensorProto& proto, MemoryBudget& budget) {
  const auto& values = proto.int32_data();
  if (bits_of(dtype) <= 8) return from_field<std::uint8_t>(dtype, shape, values, budget);
  if (bits_of(dtype) == 16) return from_field<std::uint16_t>(dtype, shape, values, budget);
  return from_field<std::int32_t>(dtype, shape, values, budget);
}

Tensor from_strings(const Shape& shape, const TensorProto& proto, MemoryBudget& budget) {
  bytes_of(DType::kString, shape);
  if (shape.elements() != proto.string_data_size())
    fail(ErrorCode::kInvalidFile, "a string tensor of shape {} takes {} strings, but the file holds {}",
         shape.to_string(), shape.elements(), proto.string_data_size());
  Tensor tensor = allocate(DType::kString, shape, budget);
  std::ranges::copy(proto.string_data(), tensor.strings().begin());
  return tensor;
}

Tensor from_typed_field(const TypeRow& type, const Shape& shape, const TensorProto& proto, MemoryBudget& budget) {
  switch (type.field) {
    case TensorField::kFloat: return from_field<float>(type.dtype, shape, proto.float_data(), budget);
    case TensorField::kDouble: return from_field<double>(type.dtype, shape, proto.double_data(), budget);
    case TensorField::kInt32: return from_int32_field(type.dtype, shape, proto, budget);
    case TensorField::kInt64: return from_field<std::int64_t>(type.dtype, shape, proto.int64_data(), budget);
    case TensorField::kUInt64:
      return type.dtype == DType::kUInt32 ? from_field<std::uint32_t>(type.dtype, shape, proto.uint64_data(), budget)
                                          : from_field<std::uint64_t>(type.dtype, shape, proto.uint64_data(), budget);
    case TensorField::kString: return from_strings(shape, proto, budget);
  }
  fail(ErrorCode::kInternal, "element type {} has no field", type.data_type);
}

Tensor from_raw(DType dtype, const Shape& shape, const std::string& raw, MemoryBudget& budget) {
  const std::size_t bytes = bytes_of(dtype, shape);
  if (dtype == DType::kString) fail(ErrorCode::kInvalidFile, "strings can't be stored as raw bytes");
  if (raw.size() != bytes)
    fail(ErrorCode::kInvalidFile, "a {} tensor of shape {} takes {} bytes, but the file holds {}", to_string(dtype),
         shape.to_string(), bytes, raw.size());
  Tensor tensor = allocate(dtype, shape, budget);
  if (bytes != 0) std::memcpy(tensor.raw(), raw.data(), bytes);
  return tensor;
}

Tensor from_file(DType dtype, const Shape& shape, const TensorProto& proto, const TensorSource& source) {
  if (dtype == DType::kString) fail(ErrorCode::kInvalidFile, "strings can't be stored as external data");
  source.external.check(proto, bytes_of(dtype, shape));
  Tensor tensor = allocate(dtype, shape, source.budget);
  source.external.read(proto, {tensor.raw(), tensor.bytes()});
  return tensor;
}

Tensor read_unnamed(const TensorProto& proto, const TensorSource& source) {
  if (proto.has_segment()) fail(ErrorCode::kUnsupported, "tensors stored in segments are not supported");
  const TypeRow& type = row_of(proto.data_type());
  const Shape shape = shape_of(proto.dims());
  Tensor tensor;
  if (proto.data_location() == TensorProto::EXTERNAL) {
    tensor = from_file(type.dtype, shape, proto, source);
  } else if (proto.has_raw_data() && !(proto.raw_data().empty() && bytes_of(type.dtype, shape) != 0)) {
    tensor = from_raw(type.dtype, shape, proto.raw_data(), source.budget);
  } else {
    tensor = from_typed_field(type, shape, proto, source.budget);
  }
  if (type.dtype == DType::kBool) {
    // Reading a byte other than 0 and 1 as bool would be undefined behaviour.
    auto* bytes = reinterpret_cast<std::uint8_t*>(tensor.raw());
    std::transform(bytes, bytes + tensor.elements(), bytes, [](std::uint8_t byte) { return byte != 0 ? 1 : 0; });
  }
  return tensor;
}

/// Row-major position of a sparse value: INDICES holds linear positions, or one coordinate per dimension.
std::int64_t position(std::span<const std::int64_t> indices, const Shape& index_shape, const Shape& shape,
                      std::int64_t i) {
  std::int64_t at = 0;
  if (index_shape.rank() == 1) {
    at = indices[static_cast<std::size_t>(i)];
    if (at < 0 || at >= shape.elements()) fail(ErrorCode::kInvalidFile, "the sparse index {} is out of range", at);
    return at;
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t index = indices[static_cast<std::size_t>(i * shape.rank() + axis)];
    if (index < 0 || index >= shape[axis])
      fail(ErrorCode::kInvalidFile, "the sparse index {} is out of range on axis {}", index, axis);
    at = at * shape[axis] + index;
  }
  return at;
}

Tensor make_dense(const Tensor& values, const Tensor& indices, const Shape& shape, MemoryBudget& budget) {
  // A few stored values may describe any number of elements: limited to what a dense file could hold.
  constexpr std::size_t kMaxBytes = std::size_t{1} << 31;
  if (bytes_of(values.dtype(), shape) > kMaxBytes)
    fail(ErrorCode::kUnsupported, "a sparse tensor of shape {} is too large to expand", shape.to_string());
  const Shape& index_shape = indices.shape();
  const bool linear = index_shape == Shape{values.elements()};
  const bool coordinates = index_shape == Shape{values.elements(), shape.rank()};
  if (indices.dtype() != DType::kInt64 || values.shape().rank() != 1 || !(linear || coordinates))
    fail(ErrorCode::kInvalidFile, "{} sparse values can't have indices of shape {}", values.elements(),
         index_shape.to_string());
  if (bits_of(values.dtype()) % 8 != 0 || values.dtype() == DType::kString)
    fail(ErrorCode::kUnsupported, "sparse tensors of {} are not supported", to_string(values.dtype()));
  Tensor dense = allocate(values.dtype(), shape, budget);
  std::memset(dense.raw(), 0, dense.bytes());
  const std::size_t size = bits_of(values.dtype()) / 8;
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    const std::int64_t at = position(indices.data<std::int64_t>(), index_shape, shape, i);
    std::memcpy(dense.raw() + static_cast<std::size_t>(at) * size, values.raw() + static_cast<std::size_t>(i) * size,
                size);
  }
  return dense;
}

template <typename Read>
Tensor with_name(const std::string& name, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw error.in(fmt::format("tensor '{}'", name));
  }
}

}  // namespace

DType dtype_of(int data_type) { return row_of(data_type).dtype; }

Tensor read_tensor(const TensorProto& tensor, const TensorSource& source) {
  return with_name(tensor.name(), [&] { return read_unnamed(tensor, source); });
}

Tensor read_sparse_tensor(const onnx::SparseTensorProto& sparse, const TensorSource& source) {
  return with_name(sparse.values().name(), [&] {
    return make_dense(read_unnamed(sparse.values(), source), read_unnamed(sparse.indices(), source),
                      shape_of(sparse.dims()), source.budget);
  });
}

}  // namespace saccade
