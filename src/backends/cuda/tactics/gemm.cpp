#include "cuda/plans/gemm_plan.hpp"

#include <numeric>
#include <optional>

#include "cuda/codegen/element_functions.hpp"
#include "cuda/plans/neighbor_tiles.hpp"
#include "cuda/tactics/convolution.hpp"
#include "ops/core/tf32.hpp"
#include "ops/layers/matmul_shape.hpp"

// Tiled MatMul and Gemm. A constant right operand is a 1x1 convolution's weights, with rows as pixels; two activations
// use kernels/gemm.cuh.
namespace saccade::cuda {
namespace {

/// A GEMM's extents and batch dimensions.
struct Operands {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  Shape left;  ///< batch dimensions
  Shape right;
  Shape output;
  bool transposed = false;
  float alpha = 1;
  float beta = 1;
};

Shape batches_of(const Shape& shape) {
  Shape batches;
  for (int i = 0; i + 2 < shape.rank(); ++i) batches.push_back(shape[i]);
  return batches;
}

bool is_normalized_product(const NodeContext& context) { return context.node.is("NormalizedProduct", "saccade"); }

/// Whether it has the attributes of a Gemm.
bool has_factors(const NodeContext& context) { return context.node.is("Gemm") || is_normalized_product(context); }

Operands operands_of(const NodeContext& context) {
  const Shape& left = context.input(0).type.shape;
  const Shape& right = context.input(1).type.shape;
  Operands operands;
  operands.transposed = has_factors(context) && context.node.attributes.integer("transB", 0) != 0;
  if (has_factors(context)) {
    operands.alpha = context.node.attributes.real("alpha", 1.0F);
    operands.beta = context.node.attributes.real("beta", 1.0F);
  }
  operands.m = left[left.rank() - 2];
  operands.k = left.back();
  operands.n = operands.transposed ? right[right.rank() - 2] : right.back();
  operands.left = batches_of(left);
  operands.right = batches_of(right);
  operands.output = batches_of(context.output().type.shape);
  return operands;
}

/// The right operand as convolution weights, one filter per column.
std::vector<float> weights_of(const NodeContext& context, const Operands& operands) {
  const std::vector<float> right = floats_of(*context.constant(1));
  std::vector<float> weights(right.size());
  const auto k = static_cast<std::size_t>(operands.k);
  const auto n = static_cast<std::size_t>(operands.n);
  for (std::size_t column = 0; column < n; ++column)
    for (std::size_t i = 0; i < k; ++i)
      weights[column * k + i] = operands.alpha * (operands.transposed ? right[column * k + i] : right[i * n + column]);
  return weights;
}

ConvolutionShape as_convolution(const NodeContext& context, const Operands& operands) {
  const auto rows = static_cast<int>(operands.left.elements() * operands.m);
  const auto k = static_cast<int>(operands.k);
  const auto n = static_cast<int>(operands.n);
  return {.dtype = context.input(0).type.dtype,
          .tf32 = takes_tf32(context.node),
          .width = rows,
          .in_pitch = k,
          .channels = k,
          .out_width = rows,
          .out_pitch = n,
          .filters = n};
}

/// Strides of an operand's matrices along the output's batch dimensions; 0 where it broadcasts.
std::vector<std::int64_t> strides_of(const Shape& batches, const Shape& output, std::int64_t matrix) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(output.rank()), 0);
  for (int i = batches.rank() - 1, at = output.rank() - 1; i >= 0; --i, --at) {
    if (batches[i] > 1) strides[static_cast<std::size_t>(at)] = matrix;
    matrix *= batches[i];
  }
  return strides;
}

/// The GEMM of two activations, if its batches are at most two nested loops.
std::optional<GemmShape> as_gemm(const NodeContext& context, const Operands& operands) {
  struct Loop {
    std::int64_t length, left, right;
  };
  const auto left = strides_of(operands.left, operands.output, operands.m * operands.k);
  const auto right = strides_of(operands.right, operands.output, operands.k * operands.n);
  std::vector<Loop> loops;  // outermost first
  for (int i = 0; i < operands.output.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Loop loop{operands.output[i], left[at], right[at]};
    if (loop.length == 1) continue;
    const bool joins = !loops.empty() && loops.back().left == loop.left * loop.length &&
                       loops.back().right == loop.right * loop.length;
    if (joins) {
      loops.back() = {loops.back().length * loop.length, loop.left, loop.right};
    } else {
      loops.push_back(loop);
    }
  }
  if (loops.size() > 2) return std::nullopt;
  while (loops.size() < 2) loops.insert(loops.begin(), {1, 0, 0});
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  return GemmShape{.dtype = context.input(0).type.dtype,
                   .batches = number(loops[0].length * loops[1].length),
                   .inner_batches = number(loops[1].length),
                   .m = number(operands.m),
                   .n = number(operands.n),
                   .k = number(operands.k),
                   .lda = number(operands.k),
                   .a_outer_stride = number(loops[0].left),
                   .a_inner_stride = number(loops[1].left),
                   .ldb = number(operands.transposed ? operands.k : operands.n),
                   .b_outer_stride = number(loops[0].right),
                   .b_inner_stride = number(loops[1].right),
                   .transposed = operands.transposed,
                   .bias = context.has(2)};
}

bool has_constant_weights(const NodeContext& context) {
  return context.constant(1) != nullptr && batches_of(context.input(1).type.shape).elements() == 1;
}

NodeProgram gemm_program(const NodeContext& context, const GemmShape& shape, const GemmTile& tile) {
  using Kind = Argument::Kind;
  KernelCall call;
  call.name = "gemm";
  call.arguments = {{Kind::kInput, 0}, {Kind::kInput, 1}, {Kind::kInput, shape.bias ? 2U : 0U}};
  call.source = gemm_source(shape, tile, post_ops_text(context, call.arguments));
  call.arguments.push_back({Kind::kOutput, 0});
  const auto tiles = [](int length, int tile_length) {
    return static_cast<unsigned>((length + tile_length - 1) / tile_length);
  };
  call.grid = {.blocks = {tiles(shape.m, tile.m), tiles(shape.n, tile.n), static_cast<unsigned>(shape.batches)},
               .threads = {static_cast<unsigned>(tile.threads()), 1, 1},
               .shared_bytes = static_cast<unsigned>(gemm_shared_bytes(shape, tile))};
  NodeProgram program;
  program.detail = tile.to_string();
  program.calls.push_back(std::move(call));
  return program;
}

Support supports_factors(const NodeContext& context) {
  const DType type = context.input(0).type.dtype;
  if (type != DType::kFloat32 && type != DType::kFloat16 && type != DType::kBFloat16)
    return Support::no("its type is not float32, float16 or bfloat16");
  const Value* values[] = {&context.input(0), &context.input(1), &context.output()};
  for (const Value* value : values) {
    if (value->type.shape.rank() < 2) return Support::no("an operand is a vector");
    if (value->layout != Layout::kRowMajor && value->type.shape.rank() >= 3)
      return Support::no("its tensors are channels-last");
    if (value->type.shape.elements() >= kMaxElements) return Support::no("its tensors are too large");
    if (value->type.shape.elements() == 0) return Support::no("its tensors are empty");
    if (value->type.dtype != type && (value != values[1] || context.constant(1) == nullptr))
      return Support::no("its tensors have different types");
  }
  if (context.node.is("Gemm") && context.node.attributes.integer("transA", 0) != 0)
    return Support::no("its left operand is transposed");
  return {};
}

Support supports_bias(const NodeContext& context, const Operands& operands) {
  if (!context.has(2)) return {};
  const Value& bias = context.input(2);
  if (bias.type.shape.elements() != operands.n || bias.type.shape.back() != operands.n)
    return Support::no("its third operand is not one element per column");
  if (has_constant_weights(context))
    return context.constant(2) != nullptr ? Support{} : Support::no("the bias is not constant");
  if (operands.beta != 1.0F) return Support::no("beta scales an operand");
  if (bias.type.dtype != context.input(0).type.dtype) return Support::no("the bias has another type");
  return {};
}

/// Requirements that do not depend on whether the right operand is constant.
Support supports_gemm_operands(const NodeContext& context) {
  if (Support tensors = supports_factors(context); !tensors) return tensors;
  if (Support bias = supports_bias(context, operands_of(context)); !bias) return bias;
  return supports_post_ops(context);
}

bool is_plain_product(const NodeContext& context) { return context.node.is("MatMul") || context.node.is("Gemm"); }

class TiledMatMul : public Tactic {
 public:
  explicit TiledMatMul(Device& device) : device_(device) {}
  std::string_view name() const override { return "tiled.matmul"; }

  Support supports(const NodeContext& context) const override { return supports_gemm(context); }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    const DeviceLimits limits = limits_of(device_);
    const std::string_view near = context.configuration;
    if (has_constant_weights(context)) return tile_configurations(constant_gemm_shape(context), limits, count, near);
    const GemmShape shape = *as_gemm(context, operands_of(context));
    if (!near.empty()) return neighbor_tiles(gemm_tiles(shape, limits), near, count);
    return gemm_configurations(shape, limits, count);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const DeviceLimits limits = limits_of(device_);
    if (has_constant_weights(context)) {
      const auto [shape, weights, bias] = constant_gemm(context);
      return make_launch(
          device_, context,
          convolution_program(context, shape, configured_tile(shape, limits, context.configuration), weights, bias));
    }
    const GemmShape shape = *as_gemm(context, operands_of(context));
    const GemmTile tile = configured_gemm_tile(shape, limits, context.configuration);
    return make_launch(device_, context, gemm_program(context, shape, tile));
  }

 private:
  Device& device_;
};

}  // namespace

Support supports_gemm(const NodeContext& context) {
  if (!is_plain_product(context)) return Support::other_operator("not a MatMul or Gemm");
  if (Support gemm = supports_gemm_operands(context); !gemm) return gemm;
  if (!has_constant_weights(context)) {
    const Operands operands = operands_of(context);
    if (operands.alpha != 1.0F) return Support::no("alpha scales an operand that is not constant");
    const auto gemm = as_gemm(context, operands);
    if (!gemm) return Support::no("its batches broadcast in more than two nested loops");
    if (gemm->batches > 65535) return Support::no("it has too many batches");
  }
  return {};
}

GemmShape gemm_shape(const NodeContext& context) {
  GemmShape shape = as_gemm(context, operands_of(context)).value();
  const bool are_rows_even = shape.inner_batches == shape.batches && shape.a_inner_stride == shape.m * shape.k;
  if (shape.b_inner_stride == 0 && are_rows_even && shape.batches > 1) {
    shape.m *= shape.batches;
    shape.batches = shape.inner_batches = 1;
  }
  return shape;
}

Support supports_constant_gemm(const NodeContext& context) {
  if (!is_plain_product(context) && !is_normalized_product(context))
    return Support::other_operator("not a MatMul or Gemm");
  const Support gemm = supports_gemm_operands(context);
  if (gemm && !has_constant_weights(context)) return Support::no("the right operand is not constant");
  return gemm;
}

ConvolutionShape constant_gemm_shape(const NodeContext& context) {
  return as_convolution(context, operands_of(context));
}

ConstantGemm constant_gemm(const NodeContext& context) {
  const Operands operands = operands_of(context);
  std::vector<float> bias = bias_of(context);
  for (float& value : bias) value *= operands.beta;
  return {as_convolution(context, operands), weights_of(context, operands), std::move(bias)};
}

std::unique_ptr<Tactic> tiled_matmul(Device& device) { return std::make_unique<TiledMatMul>(device); }

}  // namespace saccade::cuda
