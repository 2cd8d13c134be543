#include "cpu/tactics/half_product.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/tactics/tactics.hpp"
#include "tensor/half.hpp"

// MatMul and Gemm of row-major bfloat16 tensors with float32 accumulators. A right operand that is not constant is
// packed in each run.
namespace saccade::cpu {
namespace {

class HalfMatMul : public Tactic {
 public:
  std::string_view name() const override { return "bf16.matmul"; }

  Support supports(const NodeContext& context) const override { return supports_gemm(context, DType::kBFloat16); }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const GemmOperands operands(context);
    const MatMulShape& shape = operands.shape;
    const HalfGeometry g = half_geometry(operands.window(), shape.batch, 1, shape.k, shape.n, context.threads);
    PackedHalfProduct product{
        .geometry = g,
        .matrices = operands.matrices,
        .matrix_of_image = operands.matrix_of_image(),
        .first_pixels = operands.first_rows(),
        .pitches = {.in = shape.k, .out = shape.n},
        .bias = padded_bias(1, g.out_channels, g.padded_channels(), context.constant(2), operands.beta),
        .operations = gemm_operations(context)};
    if (const Tensor* right = context.constant(1))
      product.weights = pack_half_weights(context, g,
                                          {right->data<BFloat16>().data(), operands.right_strides(), operands.alpha,
                                           operands.matrices, operands.right_elements()});
    return half_product_launch(std::move(product), context.threads);
  }
};

}  // namespace

const Tactic& bf16_matmul() {
  static const HalfMatMul tactic;
  return tactic;
}

}  // namespace saccade::cpu
