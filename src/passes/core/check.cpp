#include "passes/core/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "ops/interpreter/interpret.hpp"
#include "tensor/frame.hpp"
#include "tensor/half.hpp"
#include "tensor/numbers.hpp"

namespace saccade {
namespace {

template <typename T>
void fill(Tensor& tensor, std::mt19937& generator, double low, double high) {
  std::uniform_real_distribution<double> draw(low, high);
  for (T& element : tensor.data<T>()) element = static_cast<T>(draw(generator));
}

/// Values in the usual ranges of inputs: pixels scaled to 0..1, image sizes, masks.
Tensor random_input(const Value& value, unsigned seed) {
  Tensor tensor(value.type.dtype, value.type.shape);
  std::mt19937 generator(seed);
  switch (value.type.dtype) {
    case DType::kFloat32: fill<float>(tensor, generator, 0, 1); break;
    case DType::kFloat64: fill<double>(tensor, generator, 0, 1); break;
    case DType::kFloat16: fill<Float16>(tensor, generator, 0, 1); break;
    case DType::kBFloat16: fill<BFloat16>(tensor, generator, 0, 1); break;
    case DType::kInt64: fill<std::int64_t>(tensor, generator, 1, 256); break;
    case DType::kInt32: fill<std::int32_t>(tensor, generator, 1, 256); break;
    case DType::kUInt8: fill<std::uint8_t>(tensor, generator, 0, 256); break;
    case DType::kInt8: fill<std::int8_t>(tensor, generator, -128, 128); break;
    case DType::kBool: fill<bool>(tensor, generator, 0, 2); break;
    default:
      fail(ErrorCode::kUnsupported, "input '{}': can't generate random {} elements to check passes with", value.name,
           to_string(value.type.dtype));
  }
  return tensor;
}

/// A random RGB frame with its pixels in PIXELS.
Tensor random_frame(std::vector<std::uint8_t>& pixels, unsigned seed) {
  constexpr int kWidth = 320;
  constexpr int kHeight = 240;
  std::mt19937 generator(seed);
  pixels.resize(std::size_t{3} * kWidth * kHeight);
  for (std::uint8_t& sample : pixels) sample = static_cast<std::uint8_t>(generator());
  FrameView view{.format = PixelFormat::kRgb24, .width = kWidth, .height = kHeight};
  view.planes[0] = pixels.data();
  view.pitch_bytes[0] = 3 * kWidth;
  Tensor frame(DType::kFrame, {});
  std::memcpy(frame.raw(), &view, sizeof view);
  return frame;
}

/// The difference of tensors without numbers: 0 or infinity.
double is_other(const Tensor& before, const Tensor& after) {
  const bool equal = before.dtype() == DType::kString ? std::ranges::equal(before.strings(), after.strings())
                                                      : std::memcmp(before.raw(), after.raw(), before.bytes()) == 0;
  return equal ? 0 : std::numeric_limits<double>::infinity();
}

double difference(const Tensor& before, const Tensor& after) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (before.dtype() != after.dtype() || before.shape() != after.shape()) return kInfinity;
  const auto numbers = numbers_of(before);
  if (!numbers) return is_other(before, after);
  const std::vector<double>& a = *numbers;
  const std::vector<double> b = *numbers_of(after);
  double low = kInfinity;
  double high = -kInfinity;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i])) {
      low = std::min(low, a[i]);
      high = std::max(high, a[i]);
    }
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double apart = std::abs(a[i] - b[i]);
    worst = std::isfinite(apart) ? std::max(worst, apart) : kInfinity;
  }
  if (worst == 0 || worst == kInfinity) return worst;
  // An output with equal elements has no spread: the magnitude replaces it.
  return worst / (high > low ? high - low : std::max(std::abs(high), 1e-30));
}

}  // namespace

ResultCheck::ResultCheck(const Graph& graph, std::map<std::string, Tensor> given) : inputs_(std::move(given)) {
  unsigned seed = 1;
  for (ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    if (inputs_.contains(value.name)) continue;
    const bool frame = value.type.dtype == DType::kFrame;
    inputs_[value.name] = frame ? random_frame(frames_.emplace_back(), seed++) : random_input(value, seed++);
  }
  outputs_ = interpret(graph, inputs_);
}

ResultCheck::Difference ResultCheck::run_again(const Graph& graph) {
  std::vector<Tensor> outputs = interpret(graph, inputs_);
  if (outputs.size() != outputs_.size()) return {"(their number)", std::numeric_limits<double>::infinity()};
  Difference worst;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double apart = difference(outputs_[i], outputs[i]);
    if (i == 0 || apart > worst.spreads) worst = {graph.value(graph.outputs()[i]).name, apart};
  }
  outputs_ = std::move(outputs);
  return worst;
}

}  // namespace saccade
