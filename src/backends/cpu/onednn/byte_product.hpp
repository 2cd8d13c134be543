#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// The inputs of an int8 GEMM or convolution by index; input 0 is the left operand or the image. -1: the operator has
/// no such input.
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

/// No if a scale is not float32, or if oneDNN's int8 kernels don't support the left operand, the output or the
/// processor.
Support supports_byte_product(const NodeContext& context);

/// The scales and zero points of a product in one run.
class BoundByteProduct {
 public:
  BoundByteProduct(const ByteProductInputs& places, const Bindings& bindings)
      : places_(places), inputs_(bindings.inputs.begin(), bindings.inputs.end()), output_(bindings.outputs[0]) {}

  const ByteProductInputs& places() const { return places_; }
  const TensorView& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const TensorView& output() const { return output_; }
  bool has(int i) const { return i >= 0 && i < std::ssize(inputs_) && input(i).data != nullptr; }
  /// Of input I, per column (or filter) if it has several; 0 if it is omitted.
  std::int32_t zero_point(int i, std::int64_t column = 0) const;

  /// Reads the scales of this run into FACTORS, one per column (or filter).
  void read_scales(float* factors, std::int64_t count);
  /// Requantises COUNT sums with FACTORS into the output from element AT on.
  void store(const std::uint32_t* sums, const float* factors, std::int64_t at, std::int64_t count) const;

 private:
  ByteProductInputs places_;
  std::vector<TensorView> inputs_;
  TensorView output_;
  float output_zero_ = 0;
};

}  // namespace saccade::cpu
