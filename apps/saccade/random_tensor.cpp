#include "random_tensor.hpp"

#include <fmt/format.h>

#include <random>
#include <saccade/error.hpp>

namespace saccade::app {
namespace {

template <typename T>
void draw_integers(Tensor& tensor, std::mt19937_64& generator, std::uint64_t below) {
  for (T& element : tensor.data<T>()) element = static_cast<T>(generator() % below);
}

}  // namespace

Tensor random_tensor(const TensorInfo& input, std::uint64_t seed) {
  Tensor tensor(input.dtype, input.shape);
  // The engine is portable; the standard distributions are not.
  std::mt19937_64 generator(seed);
  const auto unit = [&generator] { return static_cast<double>(generator() >> 11U) * 0x1p-53; };
  switch (input.dtype) {
    case DType::kFloat32:
      for (float& element : tensor.data<float>()) element = static_cast<float>(generator() >> 40U) * 0x1p-24F;
      break;
    case DType::kFloat64:
      for (double& element : tensor.data<double>()) element = unit();
      break;
    case DType::kUInt8: draw_integers<std::uint8_t>(tensor, generator, 256); break;
    case DType::kInt8: draw_integers<std::int8_t>(tensor, generator, 128); break;
    case DType::kInt32:
      for (std::int32_t& element : tensor.data<std::int32_t>())
        element = 1 + static_cast<std::int32_t>(generator() % 320);
      break;
    case DType::kInt64:
      for (std::int64_t& element : tensor.data<std::int64_t>())
        element = 1 + static_cast<std::int64_t>(generator() % 320);
      break;
    case DType::kBool:
      for (bool& element : tensor.data<bool>()) element = (generator() & 1U) != 0;
      break;
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("input '{}' is {}: it can't be generated; give it with saccade infer --input {}=FILE.npy",
                              input.name, to_string(input.dtype), input.name));
  }
  return tensor;
}

std::vector<Tensor> random_inputs(const Model& model, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const TensorInfo& input : model.inputs()) inputs.push_back(random_tensor(input, seed + inputs.size()));
  return inputs;
}

}  // namespace saccade::app
