#include "ops/core/values.hpp"

#include <algorithm>
#include <array>

#include "ops/core/dispatch.hpp"

namespace saccade {
namespace {

// Indexed by ONNX's TensorProto.DataType.
constexpr std::array kOnnxTypes = {
    DType::kFrame,  // 0: undefined
    DType::kFloat32,  DType::kUInt8,        DType::kInt8,           DType::kUInt16,     DType::kInt16,
    DType::kInt32,    DType::kInt64,        DType::kString,         DType::kBool,       DType::kFloat16,
    DType::kFloat64,  DType::kUInt32,       DType::kUInt64,         DType::kComplex64,  DType::kComplex128,
    DType::kBFloat16, DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ,
    DType::kUInt4,    DType::kInt4,         DType::kFloat4E2M1,     DType::kFloat8E8M0, DType::kUInt2,
    DType::kInt2,
};

}  // namespace

DType dtype_of_onnx(std::int64_t number) {
  if (number < 1 || number >= static_cast<std::int64_t>(kOnnxTypes.size()))
    fail(ErrorCode::kUnsupported, "ONNX's element type {} is not supported", number);
  return kOnnxTypes[static_cast<std::size_t>(number)];
}

std::int64_t onnx_of_dtype(DType dtype) {
  const auto* found = std::ranges::find(kOnnxTypes, dtype);
  if (found == kOnnxTypes.end() || found == kOnnxTypes.begin())
    fail(ErrorCode::kUnsupported, "ONNX has no element type {}", to_string(dtype));
  return found - kOnnxTypes.begin();
}

Indices::Indices(const TensorView& view) {
  if (view.data == nullptr) return;
  if (view.dtype == DType::kInt64) {
    wide_ = view.as<const std::int64_t>().data();
  } else if (view.dtype == DType::kInt32) {
    narrow_ = view.as<const std::int32_t>().data();
  } else {
    fail(ErrorCode::kInvalidFile, "indices must be int32 or int64, not {}", to_string(view.dtype));
  }
  size_ = static_cast<std::size_t>(view.elements());
}

std::vector<std::int64_t> integers_of(const TensorView& view) {
  const Indices indices(view);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < indices.size(); ++i) values.push_back(indices[i]);
  return values;
}

double real_of(const TensorView& view) {
  if (view.data == nullptr || view.elements() != 1)
    fail(ErrorCode::kInvalidFile, "a scalar is expected, not a tensor of shape {}", view.shape.to_string());
  double value = 0;
  with_number(view.dtype,
              [&]<typename T>(std::type_identity<T>) { value = static_cast<double>(view.as<const T>()[0]); });
  return value;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail(ErrorCode::kUnsupported, "a dimension of {} + {} is too large", a, b);
  return sum;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    fail(ErrorCode::kUnsupported, "a dimension of {} x {} is too large", a, b);
  return product;
}

}  // namespace saccade
