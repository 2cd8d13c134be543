#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// Which inputs of a product of bytes are what; its left operand, or a convolution's image, is the first. -1: the
/// operator has no such input.
struct ByteProductInputs {
  int right = 1;  ///< or a convolution's weights
  int left_zero = 2;
  int right_zero = 3;
  int left_scale = -1;
  int right_scale = -1;
  int output_scale = -1;
  int output_zero = -1;
  int bias = -1;

  bool requantizes() const { return output_scale >= 0; }
};

/// Of ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul.
ByteProductInputs byte_product_inputs(const Node& node);

/// No where a scale is not float32, or the left operand, the output or the processor is none for oneDNN's bytes.
Support supports_byte_product(const NodeContext& context);

/// What one run knows of a product's scales and zero points.
class BoundByteProduct {
 public:
  BoundByteProduct(const ByteProductInputs& places, const Bindings& bindings)
      : places_(places), inputs_(bindings.inputs.begin(), bindings.inputs.end()), output_(bindings.outputs[0]) {}

  const ByteProductInputs& places() const { return places_; }
  const TensorView& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const TensorView& output() const { return output_; }
  bool has(int i) const { return i >= 0 && i < std::ssize(inputs_) && input(i).data != nullptr; }
  /// Of input I, for column (or filter) COLUMN where it has one each; 0 where it is left out.
  std::int32_t zero_point(int i, std::int64_t column = 0) const;

  /// Reads the scales of this run: to FACTORS, one for each of COUNT columns (or filters).
  void read_scales(float* factors, std::int64_t count);
  /// Requantises COUNT sums by as many FACTORS into the output, from its element AT on.
  void store(const std::uint32_t* sums, const float* factors, std::int64_t at, std::int64_t count) const;

 private:
  ByteProductInputs places_;
  std::vector<TensorView> inputs_;
  TensorView output_;
  float output_zero_ = 0;
};

}  // namespace saccade::cpu
