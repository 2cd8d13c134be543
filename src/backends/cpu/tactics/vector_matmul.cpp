#include "base/integers.hpp"
#include "cpu/kernels/product_kernels.hpp"
#include "cpu/tactics/direct_product.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/tactics/tactics.hpp"

// MatMul and Gemm of row-major tensors. A constant right operand is packed once, another in each run.
namespace saccade::cpu {
namespace {

ProductGeometry geometry_of(const GemmOperands& operands, int threads) {
  const MatMulShape& shape = operands.shape;
  ProductGeometry geometry{.window = operands.window(),
                           .images = shape.batch,
                           .groups = 1,
                           .in_channels = shape.k,
                           .out_channels = shape.n,
                           .taps = 1,
                           .pixels = shape.m};
  divide(geometry, threads);
  return geometry;
}

class VectorMatMul : public Tactic {
 public:
  std::string_view name() const override { return "vector.matmul"; }

  Support supports(const NodeContext& context) const override { return supports_gemm(context, DType::kFloat32); }

  /// oneDNN's GEMM reaches half of the multiply-add peak with AVX2. Not where most columns of the panels would be
  /// empty, or where packing the right operand in each run would cost more than the multiplications.
  bool leads(const NodeContext& context) const override {
    constexpr std::int64_t kColumnsOfAvx2 = 16;
    constexpr std::int64_t kLeastRowsToPack = 8;
    if (product_kernels().columns != kColumnsOfAvx2 || !supports(context)) return false;
    const MatMulShape shape = GemmOperands(context).shape;
    return 5 * shape.n >= 3 * round_up(shape.n, kColumnsOfAvx2) &&
           (context.constant(1) != nullptr || shape.m >= kLeastRowsToPack);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const GemmOperands operands(context);
    const ProductGeometry g = geometry_of(operands, context.threads);
    PackedProduct product{
        .geometry = g,
        .input_strides = operands.right_strides(),
        .matrices = operands.matrices,
        .matrix_of_image = operands.matrix_of_image(),
        .first_pixels = operands.first_rows(),
        .pitches = {.in = operands.shape.k, .out = operands.shape.n},
        .bias = padded_bias(1, g.out_channels, g.padded_channels(), context.constant(2), operands.beta),
        .operations = gemm_operations(context)};
    if (const Tensor* right = context.constant(1))
      product.weights = pack_weights(context, g,
                                     {right->data<float>().data(), operands.right_strides(), operands.alpha,
                                      operands.matrices, operands.right_elements()});
    return product_launch(std::move(product), context.threads);
  }
};

}  // namespace

const Tactic& vector_matmul() {
  static const VectorMatMul tactic;
  return tactic;
}

}  // namespace saccade::cpu
