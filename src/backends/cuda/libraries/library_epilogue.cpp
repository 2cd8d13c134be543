#include "cuda/libraries/library_epilogue.hpp"

#include <algorithm>

#include "cuda/codegen/element_code.hpp"
#include "cuda/tactics/convolution.hpp"
#include "ops/elementwise/cast.hpp"

namespace saccade::cuda {

LibraryEpilogue library_epilogue(const NodeContext& context) {
  const auto& posts = context.node.post_ops;
  const auto is_relu = [](const PostOp& post) { return post.op == "Relu" && post.operand < 0; };
  const auto is_residual = [&](const PostOp& post) {
    return post.op == "Add" && post.operand >= 0 && context.constant(post.operand) == nullptr &&
           context.input(post.operand).type.shape == context.output().type.shape;
  };
  if (posts.empty()) return {};
  if (posts.size() == 1 && is_relu(posts[0])) return {.relu = true};
  if (posts.size() == 1 && is_residual(posts[0])) return {.residual = posts[0].operand};
  if (posts.size() == 2 && is_residual(posts[0]) && is_relu(posts[1]))
    return {.residual = posts[0].operand, .relu = true};
  return {.rest = true};
}

Support supports_library_epilogue(const NodeContext& context) {
  if (!library_epilogue(context).rest || context.output().type.dtype != DType::kFloat16) return {};
  const PostOp& first = context.node.post_ops.front();
  if (first.operand < 0 && first.op != "LeakyRelu") return {};
  return Support::no(fmt::format("its {} needs the accumulators, which float16 may not hold", first.op));
}

NodeProgram epilogue_program(const NodeContext& context) {
  constexpr int kThreads = 256;
  const Value& output = context.output();
  const std::int64_t count = output.type.shape.elements();
  const int most = 16 / static_cast<int>(bits_of(output.type.dtype) / 8);
  const int vector = count % most == 0 ? most : 1;
  NodeProgram program;
  KernelCall call{.name = "post_ops"};
  const PostOpsText post_ops = post_ops_text(context, call.arguments);
  call.arguments.push_back({Argument::Kind::kOutput, 0});
  const std::string parameters = post_ops.parameters.empty() ? "" : post_ops.parameters.substr(2) + ", ";
  call.source = fmt::format(R"(#include "post_ops.cuh"
{}extern "C" __global__ void __launch_bounds__({}) post_ops({}{}* output) {{
  apply_post_ops<{}, {}>(output, {});
}}
)",
                            post_ops.definition, kThreads, parameters, storage_name(output.type.dtype), count, vector,
                            post_ops.value);
  const std::int64_t blocks = (count / vector + kThreads - 1) / kThreads;
  call.grid = {.blocks = {static_cast<unsigned>(blocks), 1, 1}, .threads = {kThreads, 1, 1}};
  program.calls.push_back(std::move(call));
  return program;
}

std::vector<std::byte> bytes_as(const Tensor& tensor, DType dtype) {
  Tensor made(dtype, tensor.shape());
  cast_elements(view_of(tensor), view_of(made));
  return {made.raw(), made.raw() + made.bytes()};
}

std::vector<std::byte> bytes_as(std::span<const float> floats, DType dtype) {
  Tensor wide(DType::kFloat32, Shape{static_cast<std::int64_t>(floats.size())});
  std::ranges::copy(floats, wide.data<float>().begin());
  return bytes_as(wide, dtype);
}

}  // namespace saccade::cuda
