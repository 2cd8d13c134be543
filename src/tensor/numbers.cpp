#include "tensor/numbers.hpp"

#include "tensor/half.hpp"

namespace saccade {
namespace {

template <typename T>
std::vector<double> widened(const Tensor& tensor) {
  const auto elements = tensor.data<T>();
  return {elements.begin(), elements.end()};
}

}  // namespace

std::optional<std::vector<double>> numbers_of(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat32: return widened<float>(tensor);
    case DType::kFloat64: return widened<double>(tensor);
    case DType::kFloat16: return widened<Float16>(tensor);
    case DType::kBFloat16: return widened<BFloat16>(tensor);
    case DType::kInt8: return widened<std::int8_t>(tensor);
    case DType::kUInt8: return widened<std::uint8_t>(tensor);
    case DType::kInt16: return widened<std::int16_t>(tensor);
    case DType::kUInt16: return widened<std::uint16_t>(tensor);
    case DType::kInt32: return widened<std::int32_t>(tensor);
    case DType::kUInt32: return widened<std::uint32_t>(tensor);
    case DType::kInt64: return widened<std::int64_t>(tensor);
    case DType::kUInt64: return widened<std::uint64_t>(tensor);
    case DType::kBool: return widened<bool>(tensor);
    default: return std::nullopt;
  }
}

}  // namespace saccade
