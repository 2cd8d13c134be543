#include "cpu/onednn/byte_product.hpp"

#include "cpu/kernels/integer_kernels.hpp"
#include "cpu/onednn/onednn.hpp"

namespace saccade::cpu {

ByteProductInputs byte_product_inputs(const Node& node) {
  if (node.op.ends_with("Integer")) return {};
  return {.right = 3,
          .left_zero = 2,
          .right_zero = 5,
          .left_scale = 1,
          .right_scale = 4,
          .output_scale = 6,
          .output_zero = 7,
          .bias = node.op == "QLinearConv" ? 8 : -1};
}

Support supports_byte_product(const NodeContext& context) {
  if (Support bytes = adds_bytes_exactly(); !bytes) return bytes;
  if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
  const ByteProductInputs places = byte_product_inputs(context.node);
  for (const int i : {places.left_scale, places.right_scale, places.output_scale})
    if (i >= 0 && context.input(i).type.dtype != DType::kFloat32) return Support::no("its scales are not float32");
  for (const int i : {0, places.right})
    if (context.input(i).type.shape.elements() == 0) return Support::no("a tensor is empty");
  if (context.output().type.shape.elements() == 0) return Support::no("a tensor is empty");
  return {};
}

std::int32_t BoundByteProduct::zero_point(int i, std::int64_t column) const {
  if (!has(i)) return 0;
  const TensorView& zero = input(i);
  const auto at = static_cast<std::size_t>(zero.elements() == 1 ? 0 : column);
  if (zero.dtype == DType::kUInt8) return zero.as<const std::uint8_t>()[at];
  return zero.as<const std::int8_t>()[at];
}

void BoundByteProduct::read_scales(float* factors, std::int64_t count) {
  const auto scale = [&](int i) { return static_cast<const float*>(input(i).data); };
  const float* right = scale(places_.right_scale);
  const bool one = input(places_.right_scale).elements() == 1;
  for (std::int64_t i = 0; i < count; ++i)
    factors[i] = *scale(places_.left_scale) * right[one ? 0 : i] / *scale(places_.output_scale);
  output_zero_ = static_cast<float>(zero_point(places_.output_zero));
}

void BoundByteProduct::store(const std::uint32_t* sums, const float* factors, std::int64_t at,
                             std::int64_t count) const {
  const auto size = static_cast<std::size_t>(count);
  if (output_.dtype == DType::kUInt8)
    integer_kernels().requantize_u8(sums, factors, output_zero_, static_cast<std::uint8_t*>(output_.data) + at, size);
  else
    integer_kernels().requantize_s8(sums, factors, output_zero_, static_cast<std::int8_t*>(output_.data) + at, size);
}

}  // namespace saccade::cpu
