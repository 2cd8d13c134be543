#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_product.hpp"
#include "cpu/tactics/tactics.hpp"

// MatMul and Gemm with oneDNN: constant right operands are packed once, bias and post-ops are fused. Tensors are
// row-major, with batch dimensions outermost.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::matmul::primitive_desc;

/// A GEMM in oneDNN's form: operands of equal rank, with broadcast batch dimensions of 1.
struct Product {
  memory::desc left;
  memory::desc right;
  memory::desc bias = {};  // zero: none
  Shape output;
  bool turned_right = false;  // Gemm's transB
  float alpha = 1;
  float beta = 1;
};

memory::desc matrices(const Shape& shape) { return describe(DType::kFloat32, shape, Layout::kRowMajor); }

/// The transposed view of a matrix.
memory::desc turned(const Shape& shape) {
  return {{shape[1], shape[0]}, memory::data_type::f32, memory::dims{1, shape[1]}};
}

Product matmul_product(const NodeContext& context) {
  const OnednnProduct shapes(context.input(0).type.shape, context.input(1).type.shape);
  Product product{.left = matrices(shapes.left), .right = matrices(shapes.right), .output = shapes.output};
  if (context.has(2)) product.bias = matrices(widened(Shape{shapes.output.back()}, product.output.rank()));
  return product;
}

Product gemm_product(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  const Shape& left = context.input(0).type.shape;
  const Shape& right = context.input(1).type.shape;
  Product product{.output = context.output().type.shape,
                  .turned_right = attributes.integer("transB", 0) != 0,
                  .alpha = attributes.real("alpha", 1.0F),
                  .beta = attributes.real("beta", 1.0F)};
  product.left = attributes.integer("transA", 0) != 0 ? turned(left) : matrices(left);
  product.right = product.turned_right ? turned(right) : matrices(right);
  if (context.has(2)) product.bias = matrices(Shape{1, product.output[1]});
  return product;
}

Product product_of(const NodeContext& context) {
  return context.node.is("Gemm") ? gemm_product(context) : matmul_product(context);
}

/// A right operand of one constant matrix may be packed; batches are not.
bool packs_right(const NodeContext& context, const Product& product) {
  return context.constant(1) != nullptr && product.output.rank() == 2;
}

Descriptor descriptor(const NodeContext& context, const Product& product, const dnnl::primitive_attr& attributes) {
  memory::desc right = product.right;
  if (packs_right(context, product)) right = {right.dims(), memory::data_type::f32, memory::format_tag::any};
  const memory::desc output = matrices(product.output);
  const dnnl::matmul::desc operation = context.has(2) ? dnnl::matmul::desc(product.left, right, product.bias, output)
                                                      : dnnl::matmul::desc(product.left, right, output);
  return {operation, attributes, onednn_engine()};
}

/// TENSOR times FACTOR.
Tensor scaled(const Tensor& tensor, float factor) {
  if (factor == 1.0F) return tensor;
  Tensor result = tensor.clone();
  for (float& value : result.data<float>()) value *= factor;
  return result;
}

Support check_operands(const NodeContext& context, const Product& product) {
  for (int i = 0; i < 2; ++i)
    if (context.input(i).layout != Layout::kRowMajor && context.input(i).type.shape.rank() >= 3)
      return Support::no("its operands are channels-last");
  if (context.output().layout != Layout::kRowMajor && context.output().type.shape.rank() >= 3)
    return Support::no("its output is channels-last");
  if (product.alpha != 1.0F && context.constant(1) == nullptr)
    return Support::no("alpha scales an operand that is not constant");
  if (!context.has(2)) return {};
  const Shape& bias = context.input(2).type.shape;
  if (bias.elements() != product.output.back() || (bias.rank() > 0 && bias.back() != product.output.back()))
    return Support::no("its third operand is not one number a column");
  if (product.beta != 1.0F && context.constant(2) == nullptr)
    return Support::no("beta scales an operand that is not constant");
  return {};
}

class MatMul : public Tactic {
 public:
  std::string_view name() const override { return "onednn.matmul"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("MatMul") && !context.node.is("Gemm"))
      return Support::other_operator("not a matrix multiplication");
    if (Support types = all_float32(context); !types) return types;
    const Product product = product_of(context);
    if (Support operands = check_operands(context, product); !operands) return operands;
    const FusedPostOps fused = fuse_post_ops(context, &product.output);
    if (Support rest = supports_rest(context, fused); !rest) return rest;
    return onednn_supports(context, [&] { descriptor(context, product, fused.attributes); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      const Product product = product_of(context);
      std::optional<PackedOnce> right;
      if (const Tensor* tensor = context.constant(1))
        right.emplace(context, DNNL_ARG_WEIGHTS, scaled(*tensor, product.alpha), product.right);
      std::optional<PackedOnce> bias;
      if (const Tensor* tensor = context.constant(2))
        bias.emplace(context, DNNL_ARG_BIAS, scaled(*tensor, product.beta), product.bias);
      return keeping_nan(fuse_post_ops(context, &product.output), [&](const FusedPostOps& fused) {
        const Descriptor chosen = descriptor(context, product, fused.attributes);
        std::vector<TensorArgument> tensors = fused.operands;
        std::vector<PackedArgument> packed;
        tensors.push_back({DNNL_ARG_SRC, false, 0, chosen.src_desc()});
        tensors.push_back({DNNL_ARG_DST, true, 0, chosen.dst_desc()});
        if (right)
          packed.push_back(right->as(chosen.weights_desc()));
        else
          tensors.push_back({DNNL_ARG_WEIGHTS, false, 1, chosen.weights_desc()});
        if (bias)
          packed.push_back(bias->as(chosen.bias_desc()));
        else if (context.has(2))
          tensors.push_back({DNNL_ARG_BIAS, false, 2, chosen.bias_desc()});
        return with_rest(context, fused, onednn_launch<dnnl::matmul>(chosen, std::move(tensors), std::move(packed)));
      });
    });
  }
};

}  // namespace

const Tactic& onednn_matmul() {
  static const MatMul tactic;
  return tactic;
}

}  // namespace saccade::cpu
