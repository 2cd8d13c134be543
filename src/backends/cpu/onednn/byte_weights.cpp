#include "cpu/onednn/byte_weights.hpp"

#include <algorithm>

namespace saccade::cpu {
namespace {

/// What a filter's weights of one sign may add up to: bytes less a zero point are at most 255, and float32, which
/// oneDNN takes sums through, counts to 2^24. It holds for products and for what zero points add each alone, too.
constexpr int kMostOfOneSign = (1 << 24) / 255;

/// Spreads one filter over parts, each a filter of its own.
std::vector<std::vector<std::int8_t>> parts_of(std::span<const int> filter) {
  struct Room {
    int above = kMostOfOneSign;
    int below = kMostOfOneSign;
  };
  std::vector<std::vector<std::int8_t>> parts;
  std::vector<Room> rooms;
  for (std::size_t i = 0; i < filter.size(); ++i) {
    int rest = filter[i];
    for (std::size_t part = 0; rest != 0 || parts.empty(); ++part) {
      if (part == parts.size()) {
        parts.emplace_back(filter.size(), std::int8_t{0});
        rooms.emplace_back();
      }
      int& room = rest > 0 ? rooms[part].above : rooms[part].below;
      const int taken = std::clamp(rest, -std::min(room, 128), std::min(room, 127));
      parts[part][i] = static_cast<std::int8_t>(taken);
      room -= std::abs(taken);
      rest -= taken;
    }
  }
  return parts;
}

}  // namespace

std::vector<int> bytes_of_constant(const NodeContext& context, int i) {
  const Tensor* tensor = context.constant(i);
  std::vector<int> values;
  if (tensor == nullptr) return values;
  if (tensor->dtype() == DType::kUInt8)
    for (const std::uint8_t value : tensor->data<std::uint8_t>()) values.push_back(value);
  else if (tensor->dtype() == DType::kInt8)
    for (const std::int8_t value : tensor->data<std::int8_t>()) values.push_back(value);
  return values;
}

std::vector<int> centered_weights(const NodeContext& context, int weights, int zero_points) {
  std::vector<int> values = bytes_of_constant(context, weights);
  auto zeros = bytes_of_constant(context, zero_points);
  if (zeros.empty()) zeros.push_back(0);
  const std::size_t filter = values.size() / static_cast<std::size_t>(context.input(weights).type.shape[0]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= zeros[zeros.size() == 1 ? 0 : i / filter];
  return values;
}

std::optional<Tensor> as_bytes(const std::vector<int>& values, const Shape& shape) {
  Tensor bytes(DType::kInt8, shape);
  const auto to = bytes.data<std::int8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < -128 || values[i] > 127) return std::nullopt;
    to[i] = static_cast<std::int8_t>(values[i]);
  }
  return bytes;
}

FilterParts split_filters(const std::vector<int>& values, const Shape& shape) {
  const auto filters = static_cast<std::size_t>(shape[0]);
  const std::size_t taps = values.size() / filters;
  std::vector<std::vector<std::vector<std::int8_t>>> split;
  FilterParts result;
  for (std::size_t i = 0; i < filters; ++i) {
    split.push_back(parts_of(std::span(values).subspan(i * taps, taps)));
    result.parts = std::max(result.parts, std::ssize(split.back()));
  }
  Shape wide = shape;
  wide[0] *= result.parts;
  result.filters = Tensor(DType::kInt8, wide);
  auto* to = result.filters.data<std::int8_t>().data();
  for (const auto& parts : split) {
    for (const auto& part : parts) to = std::ranges::copy(part, to).out;
    to = std::fill_n(to, (static_cast<std::size_t>(result.parts) - parts.size()) * taps, std::int8_t{0});
  }
  return result;
}

Shape grouped(const Shape& weights, std::int64_t groups) {
  if (groups == 1) return weights;
  Shape shape{groups, weights[0] / groups};
  for (int i = 1; i < weights.rank(); ++i) shape.push_back(weights[i]);
  return shape;
}

}  // namespace saccade::cpu
