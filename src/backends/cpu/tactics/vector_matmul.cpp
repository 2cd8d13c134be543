#include <algorithm>

#include "base/integers.hpp"
#include "cpu/kernels/product_kernels.hpp"
#include "cpu/tactics/direct_product.hpp"
#include "cpu/tactics/tactics.hpp"
#include "ops/layers/matmul_shape.hpp"

// MatMul and Gemm of row-major tensors. A constant right operand is packed once, another in each run.
namespace saccade::cpu {
namespace {

/// A GEMM in the form of MatMul.
struct Operands {
  explicit Operands(const NodeContext& context)
      : shape(context.input(0).type.shape, right_shape(context)),
        transposes_right(transposes(context, "transB")),
        alpha(factor(context, "alpha")),
        beta(factor(context, "beta")) {
    // With a single right operand the matrices of the left one are one matrix.
    matrices = context.input(1).type.shape.elements() / std::max<std::int64_t>(shape.k * shape.n, 1);
    if (matrices == 1) {
      shape.m *= shape.batch;
      shape.batch = 1;
    }
  }

  static Shape right_shape(const NodeContext& context) {
    const Shape& shape = context.input(1).type.shape;
    return transposes(context, "transB") ? Shape{shape[1], shape[0]} : shape;
  }
  // MatMul has none of these attributes.
  static bool transposes(const NodeContext& context, std::string_view attribute) {
    return context.node.is("Gemm") && context.node.attributes.integer(attribute, 0) != 0;
  }
  static float factor(const NodeContext& context, std::string_view attribute) {
    return context.node.is("Gemm") ? context.node.attributes.real(attribute, 1.0F) : 1.0F;
  }

  MatMulShape shape;
  bool transposes_right;
  float alpha;
  float beta;
  std::int64_t matrices;  // right operands
};

ProductGeometry geometry_of(const NodeContext& context, const MatMulShape& shape) {
  Window window;
  window.in = window.out = {1, 1, shape.m};
  ProductGeometry geometry{.window = window,
                           .images = shape.batch,
                           .groups = 1,
                           .in_channels = shape.k,
                           .out_channels = shape.n,
                           .taps = 1,
                           .pixels = shape.m};
  divide(geometry, context.threads);
  return geometry;
}

Support supports_operands(const NodeContext& context) {
  if (Operands::transposes(context, "transA")) return Support::no("its left operand is transposed");
  const Shape& left = context.input(0).type.shape;
  const Shape& right = context.input(1).type.shape;
  if (left.rank() < 2 || right.rank() < 2) return Support::no("an operand is a vector");
  if (left.elements() == 0 || right.elements() == 0) return Support::no("a tensor is empty");
  for (int i = 0; i < 2; ++i)
    if (context.input(i).layout != Layout::kRowMajor && context.input(i).type.shape.rank() >= 3)
      return Support::no("its operands are channels-last");
  if (context.output().layout != Layout::kRowMajor && context.output().type.shape.rank() >= 3)
    return Support::no("its output is channels-last");
  const Operands operands(context);
  if (context.constant(1) == nullptr && (operands.transposes_right || operands.alpha != 1.0F))
    return Support::no("its right operand is transposed or scaled, and not constant");
  if (!context.has(2)) return {};
  if (context.constant(2) == nullptr) return Support::no("its third operand is not constant");
  const Shape& bias = context.input(2).type.shape;
  if (bias.elements() != operands.shape.n || (bias.rank() > 0 && bias.back() != operands.shape.n))
    return Support::no("its third operand is not one number a column");
  return {};
}

std::optional<RowOperations> row_operations(const NodeContext& context, std::string& why) {
  return RowOperations::of(context, context.output().type.shape.rank() - 1, why);
}

class VectorMatMul : public Tactic {
 public:
  std::string_view name() const override { return "vector.matmul"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("MatMul") && !context.node.is("Gemm"))
      return Support::other_operator("not a matrix multiplication");
    for (int i = 0; i < context.input_count(); ++i)
      if (context.has(i) && context.input(i).type.dtype != DType::kFloat32)
        return Support::no("only float32 tensors are supported");
    if (Support operands = supports_operands(context); !operands) return operands;
    std::string why;
    return row_operations(context, why) ? Support{} : Support::no(why);
  }

  /// oneDNN's GEMM reaches half of the multiply-add peak with AVX2. Not where most columns of the panels would be
  /// empty, or where packing the right operand in each run would cost more than the multiplications.
  bool leads(const NodeContext& context) const override {
    constexpr std::int64_t kColumnsOfAvx2 = 16;
    constexpr std::int64_t kLeastRowsToPack = 8;
    if (!context.node.is("MatMul") && !context.node.is("Gemm")) return false;
    if (product_kernels().columns != kColumnsOfAvx2 || !supports_operands(context)) return false;
    const MatMulShape shape = Operands(context).shape;
    return 5 * shape.n >= 3 * round_up(shape.n, kColumnsOfAvx2) &&
           (context.constant(1) != nullptr || shape.m >= kLeastRowsToPack);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Operands operands(context);
    const MatMulShape& shape = operands.shape;
    const ProductGeometry g = geometry_of(context, shape);
    std::string why;
    PackedProduct product{.geometry = g,
                          .matrices = operands.matrices,
                          .bias = padded_bias(g, context.constant(2), operands.beta),
                          .operations = row_operations(context, why).value()};
    if (const Tensor* right = context.constant(1)) {
      const WeightStrides steps = operands.transposes_right
                                      ? WeightStrides{.out_channel = shape.k, .in_channel = 1, .tap = 0}
                                      : WeightStrides{.out_channel = 1, .in_channel = shape.n, .tap = 0};
      product.weights = pack_weights(
          context, g, {right->data<float>().data(), steps, operands.alpha, operands.matrices, shape.k * shape.n});
    }
    for (std::int64_t i = 0; i < shape.batch && operands.matrices > 1; ++i) {
      product.matrix_of_image.push_back(shape.right(i) / (shape.k * shape.n));
      product.first_pixels.push_back(shape.left(i) / shape.k);
    }
    return product_launch(std::move(product), context.threads);
  }
};

}  // namespace

const Tactic& vector_matmul() {
  static const VectorMatMul tactic;
  return tactic;
}

}  // namespace saccade::cpu
