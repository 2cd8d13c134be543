#include "op_case/op_samples.hpp"

#include <algorithm>
#include <cstring>

#include "ops/elementwise/cast.hpp"
#include "ops/layers/access_pattern.hpp"
#include "support/graph_builder.hpp"
#include "support/mask_case.hpp"

namespace saccade::samples {
namespace {

using Integers = std::vector<std::int64_t>;
using test::random_tensor;

Tensor ints(std::initializer_list<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor count(std::int32_t value) { return Tensor::of<std::int32_t>({1}, {value}); }

Tensor bytes(const Shape& shape) { return numbered(shape, DType::kUInt8, 100); }

/// Tensor, scale and zero point.
void add_quantized(std::vector<Tensor>& inputs, Tensor tensor) {
  inputs.push_back(std::move(tensor));
  inputs.push_back(Tensor::scalar(0.1F));
  inputs.push_back(Tensor::of<std::uint8_t>({}, {100}));
}

OpCall quantized(const std::string& op, const std::vector<Tensor>& operands) {
  OpCall call{.op = op, .domain = "com.microsoft"};
  for (const Tensor& operand : operands) add_quantized(call.inputs, operand);
  call.inputs.push_back(Tensor::scalar(0.2F));
  call.inputs.push_back(Tensor::of<std::uint8_t>({}, {90}));
  return call;
}

OpCall attention() {
  const auto pattern = [](std::int64_t offset, AccessPattern::Loop batch, AccessPattern::Loop token,
                          AccessPattern::Loop channel) {
    return AccessPattern{.offset = offset, .loops = {std::move(batch), std::move(token), std::move(channel)}}
        .to_integers();
  };
  const Tensor rows = random_tensor({2, 3}, 7);
  return {.op = "StridedAttention",
          .inputs = {random_tensor({2, 2}, 6), rows, rows},
          .attributes = {{"query", pattern(0, {}, {{2, 2}}, {{2, 1}})},
                         {"key", pattern(0, {}, {{2, 3}}, {{2, 1}})},
                         {"value", pattern(2, {}, {{2, 3}}, {})},
                         {"output", pattern(0, {}, {{2, 1}}, {})},
                         {"shape", Integers{2, 1}}},
          .domain = "saccade"};
}

OpCall trace_masks() {
  const test::MaskCase made{.grids = Tensor::of<float>({2, 2, 2}, {1, -1, 1, -1, 1, -1, -1, -1}),
                            .count = 1,
                            .width = 4,
                            .height = 4,
                            .attributes = test::mask_attributes(4, 4)};
  return {
      .op = "TraceMasks", .inputs = made.inputs(), .attributes = made.attributes, .outputs = 5, .domain = "saccade"};
}

std::vector<OpCall> movements() {
  const Tensor x = numbered({2, 3});
  const Tensor y = numbered({2, 3}, DType::kFloat32, 10);
  const Tensor channels = numbered({1, 4, 2, 2});
  return {
      {.op = "Identity", .inputs = {x}},
      {.op = "Dropout", .inputs = {x}},
      {.op = "Reshape", .inputs = {x, ints({3, 2})}},
      {.op = "Flatten", .inputs = {numbered({2, 3, 2})}},
      {.op = "Squeeze", .inputs = {numbered({1, 3})}},
      {.op = "Unsqueeze", .inputs = {x, ints({0})}},
      {.op = "Reorder", .inputs = {x}, .domain = "saccade"},
      {.op = "Expand", .inputs = {numbered({1, 3}), ints({4, 3})}},
      {.op = "Tile", .inputs = {x, ints({2, 1})}},
      {.op = "Concat", .inputs = {x, y}, .attributes = {{"axis", std::int64_t{1}}}},
      {.op = "Split", .inputs = {numbered({4, 3}), ints({1, 3})}, .outputs = 2},
      {.op = "Slice", .inputs = {x, ints({1}), ints({3}), ints({1})}},
      {.op = "Pad", .inputs = {x, ints({0, 1, 1, 0})}},
      {.op = "Transpose", .inputs = {x}},
      {.op = "DepthToSpace", .inputs = {channels}, .attributes = {{"blocksize", std::int64_t{2}}}},
      {.op = "SpaceToDepth", .inputs = {channels}, .attributes = {{"blocksize", std::int64_t{2}}}},
      {.op = "Gather", .inputs = {x, ints({2, 0})}, .attributes = {{"axis", std::int64_t{1}}}},
      {.op = "GatherElements",
       .inputs = {x, Tensor::of<std::int64_t>({2, 2}, {0, 2, 1, 1})},
       .attributes = {{"axis", std::int64_t{1}}}},
      {.op = "GatherND", .inputs = {x, Tensor::of<std::int64_t>({2, 2}, {0, 1, 1, 2})}},
      {.op = "ReverseSequence",
       .inputs = {numbered({3, 2}), ints({2, 3})},
       .attributes = {{"time_axis", std::int64_t{0}}, {"batch_axis", std::int64_t{1}}}},
      {.op = "Compress",
       .inputs = {x, Tensor::of<bool>({3}, {true, false, true})},
       .attributes = {{"axis", std::int64_t{1}}}},
      {.op = "Where", .inputs = {Tensor::of<bool>({2, 3}, {true, false, true, true, false, false}), x, y}},
      {.op = "Choose", .inputs = {Tensor::of<bool>({1}, {false}), x, y}, .domain = "saccade"},
  };
}

std::vector<OpCall> shapes() {
  return {
      {.op = "Shape", .inputs = {numbered({2, 3})}},
      {.op = "Size", .inputs = {numbered({2, 3})}},
      {.op = "EyeLike", .inputs = {numbered({2, 3})}, .attributes = {{"dtype", std::int64_t{6}}}},
      {.op = "ConstantOfShape", .inputs = {ints({2, 3})}},
      {.op = "NonZero", .inputs = {Tensor::of<float>({2, 2}, {1, 0, 0, 1})}},
      {.op = "Unique", .inputs = {Tensor::of<float>({4}, {1, 0, 0, 1})}},
      {.op = "NonMaxSuppression",
       .inputs = {Tensor::of<float>({1, 2, 4}, {0, 0, 1, 1, 2, 2, 3, 3}), Tensor::of<float>({1, 1, 2}, {0.5F, 0.6F}),
                  ints({2}), Tensor::scalar(0.5F), Tensor::scalar(0.0F)}},
  };
}

std::vector<OpCall> products() {
  const Tensor rows = random_tensor({2, 3}, 2);
  return {
      {.op = "Conv", .inputs = {random_tensor({1, 2, 4, 4}, 1), random_tensor({3, 2, 1, 1}, 2), random_tensor({3}, 3)}},
      {.op = "ConvTranspose",
       .inputs = {random_tensor({1, 2, 3, 3}, 1), random_tensor({2, 3, 2, 2}, 2), random_tensor({3}, 3)}},
      {.op = "Gemm", .inputs = {rows, random_tensor({3, 2}, 3), random_tensor({2}, 4)}},
      {.op = "MatMul", .inputs = {rows, random_tensor({3, 2}, 3)}},
      attention(),
  };
}

std::vector<OpCall> reductions() {
  const Tensor image = random_tensor({1, 2, 4, 4}, 1);
  std::vector<OpCall> calls{
      {.op = "MaxPool", .inputs = {image}, .attributes = {{"kernel_shape", Integers{2, 2}}}},
      {.op = "AveragePool", .inputs = {image}, .attributes = {{"kernel_shape", Integers{2, 2}}}},
      {.op = "GlobalAveragePool", .inputs = {image}},
      {.op = "GlobalMaxPool", .inputs = {image}},
      {.op = "Softmax", .inputs = {random_tensor({2, 3}, 1)}},
      {.op = "LogSoftmax", .inputs = {random_tensor({2, 3}, 1)}},
  };
  for (const char* op : {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"})
    calls.push_back({.op = op, .inputs = {random_tensor({2, 3}, 1), ints({1})}});
  return calls;
}

std::vector<OpCall> normalizations() {
  const Tensor image = random_tensor({1, 4, 3}, 1);
  const Tensor four = random_tensor({4}, 2);
  const Tensor three = random_tensor({3}, 3);
  return {
      {.op = "BatchNormalization", .inputs = {image, four, four, four, random_tensor({4}, 4, 0.5F, 1)}},
      {.op = "InstanceNormalization", .inputs = {image, four, four}},
      {.op = "GroupNormalization", .inputs = {image, four, four}, .attributes = {{"num_groups", std::int64_t{2}}}},
      {.op = "LayerNormalization", .inputs = {image, three, three}},
      {.op = "RMSNormalization", .inputs = {image, three}},
  };
}

std::vector<OpCall> images() {
  return {
      {.op = "GridSample", .inputs = {random_tensor({1, 1, 3, 3}, 1), random_tensor({1, 1, 1, 2}, 2, 0.8F, 1)}},
      {.op = "Resize", .inputs = {random_tensor({1, 1, 2, 2}, 1), Tensor(), Tensor::of<float>({4}, {1, 1, 2, 2})}},
  };
}

std::vector<OpCall> quantizations() {
  const Tensor scales = Tensor::of<float>({3}, {0.1F, 0.2F, 0.3F});
  const Tensor zeros = Tensor::of<std::uint8_t>({3}, {1, 2, 3});
  return {
      {.op = "QuantizeLinear", .inputs = {numbered({2, 3}), scales, zeros}},
      {.op = "DequantizeLinear", .inputs = {bytes({2, 3}), scales, zeros}},
      quantized("QLinearAdd", {bytes({2, 3}), bytes({2, 3})}),
      quantized("QLinearMul", {bytes({2, 3}), bytes({2, 3})}),
      quantized("QLinearSigmoid", {bytes({2, 3})}),
      quantized("QLinearLeakyRelu", {bytes({2, 3})}),
  };
}

std::vector<OpCall> detections() {
  const Tensor geometry = Tensor::of<float>({6}, {1, 1, 0, 0, 8, 8});
  const Tensor two = Tensor::of<std::int32_t>({2}, {0, 1});
  return {
      {.op = "DecodeBoxes",
       .inputs = {numbered({1, 2, 4}), Tensor(), Tensor::of<float>({1, 2, 1}, {0.9F, 0.1F})},
       .outputs = 6,
       .domain = "saccade"},
      {.op = "SelectBoxes",
       .inputs = {numbered({2, 4}), Tensor::of<float>({2}, {0.9F, 0.8F}), two, two, count(1), geometry},
       .attributes = {{"max_det", std::int64_t{2}}},
       .outputs = 5,
       .domain = "saccade"},
      {.op = "SelectQueries",
       .inputs = {random_tensor({1, 2, 4}, 1, 0.3F, 0.6F), Tensor(), Tensor::of<float>({1, 2, 1}, {9, -9}), geometry},
       .attributes = {{"conf", 0.5F}, {"width", std::int64_t{8}}, {"height", std::int64_t{8}}},
       .outputs = 4,
       .domain = "saccade"},
      {.op = "TakeObjects",
       .inputs = {numbered({1, 3, 2}), Tensor::of<std::int32_t>({4}, {2, 0, 1, 1}), count(1)},
       .domain = "saccade"},
      {.op = "BoxMasks",
       .inputs = {random_tensor({2, 1}, 1), random_tensor({1, 1, 4, 4}, 2),
                  Tensor::of<float>({2, 6}, {1, 1, 6, 6, 0.9F, 0, 1, 1, 6, 6, 0.9F, 0}), count(1), geometry},
       .attributes = {{"width", std::int64_t{8}}, {"height", std::int64_t{8}}},
       .domain = "saccade"},
      trace_masks(),
  };
}

std::map<std::string, OpCall> by_key(const std::vector<std::vector<OpCall>>& groups) {
  std::map<std::string, OpCall> all;
  for (const std::vector<OpCall>& group : groups)
    for (const OpCall& call : group) all[call.domain.empty() ? call.op : call.domain + "." + call.op] = call;
  return all;
}

/// Inputs of the first types that the operator accepts: numbers, a condition and numbers, bools, integers.
std::optional<OpCall> elementwise_call(const Op& op, const Shape& shape, unsigned seed) {
  const int inputs = op.traits.is_variadic() ? 3 : std::max(op.traits.arity.least, 1);
  const auto draw = [&](DType dtype, int i) {
    const Tensor drawn = random_tensor(shape, 100 * seed + static_cast<unsigned>(i), -4, 4);
    if (dtype != DType::kBool) return converted(drawn, dtype);
    Tensor positive(DType::kBool, shape);
    for (std::size_t k = 0; k < drawn.data<float>().size(); ++k) positive.data<bool>()[k] = drawn.data<float>()[k] > 0;
    return positive;
  };
  constexpr DType kNumber = DType::kFloat32;
  for (const auto& [first, others] : {std::pair(kNumber, kNumber),
                                      {DType::kBool, kNumber},
                                      {DType::kBool, DType::kBool},
                                      {DType::kInt32, DType::kInt32}}) {
    OpCall call{.op = std::string(op.name),
                .attributes = {{"to", std::int64_t{6}}, {"direction", std::string("LEFT")}},
                .domain = std::string(op.domain)};
    for (int i = 0; i < inputs; ++i) call.inputs.push_back(draw(i == 0 ? first : others, i));
    try {
      call.run();
      return call;
    } catch (const Error&) {
      continue;
    }
  }
  return {};
}

}  // namespace

Tensor numbered(const Shape& shape, DType dtype, int from) {
  Tensor tensor(DType::kFloat32, shape);
  for (float& element : tensor.data<float>()) element = static_cast<float>(from++);
  return converted(tensor, dtype);
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (dtype == tensor.dtype()) return tensor;
  Tensor result(dtype, tensor.shape());
  cast_elements(view_of(tensor), view_of(result));
  return result;
}

Tensor permuted(const Tensor& tensor, const std::vector<std::int64_t>& perm) {
  return OpCall{.op = "Transpose", .inputs = {tensor}, .attributes = {{"perm", perm}}}.one();
}

const std::map<std::string, OpCall>& op_samples() {
  static const auto samples = by_key(
      {movements(), shapes(), products(), reductions(), normalizations(), images(), quantizations(), detections()});
  return samples;
}

std::optional<OpCall> sample_of(const Op& op, const Shape& shape, unsigned seed) {
  if (op.traits.is_elementwise()) return elementwise_call(op, shape, seed);
  const auto found = op_samples().find(key_of(op));
  return found == op_samples().end() ? std::nullopt : std::optional(found->second);
}

const std::map<std::string, OpCall>& alike_samples() {
  static const Tensor x = random_tensor({2, 3}, 1);
  static const std::pair<std::string, Attribute> to{"to", std::int64_t{1}};
  static const auto samples = by_key({{
      {.op = "Identity", .inputs = {x}},
      {.op = "Dropout", .inputs = {x}},
      {.op = "Reshape", .inputs = {x, ints({2, -1})}},
      {.op = "Flatten", .inputs = {x}},
      {.op = "Squeeze", .inputs = {x}},
      {.op = "Unsqueeze", .inputs = {x, Tensor(DType::kInt64, {0})}},
      {.op = "Reorder", .inputs = {x}, .domain = "saccade"},
      {.op = "Expand", .inputs = {x, ints({2, 3})}},
      {.op = "Tile", .inputs = {x, ints({1, 1})}},
      {.op = "Split", .inputs = {x}, .attributes = {{"num_outputs", std::int64_t{1}}}},
      {.op = "Cast", .inputs = {x}, .attributes = {to}},
      {.op = "BitCast", .inputs = {x}, .attributes = {to}},
      {.op = "CastLike", .inputs = {x, Tensor::scalar(1.0F)}},
  }});
  return samples;
}

const std::map<std::string, OpCall>& other_sizes() {
  static const auto samples = [] {
    auto all = op_samples();
    all["NonZero"].inputs[0] = Tensor::of<float>({2, 2}, {1, 1, 1, 1});
    all["Unique"].inputs[0] = Tensor::of<float>({4}, {1, 2, 3, 4});
    all["Compress"].inputs[1] = Tensor::of<bool>({3}, {true, false, false});
    all["NonMaxSuppression"].inputs[0] = Tensor::of<float>({1, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1});
    return all;
  }();
  return samples;
}

std::optional<OpCall> permuted_sample(const Op& op, const std::vector<std::int64_t>& perm) {
  const auto own = [&](const Shape& shape) { return permuted(random_tensor(shape, 5, -2, 2), perm); };
  const auto axis = [&](std::int64_t of) {
    return static_cast<std::int64_t>(std::ranges::find(perm, of) - perm.begin());
  };
  const auto list = [&](const Integers& by_axis) {
    Tensor moved(DType::kInt64, {static_cast<std::int64_t>(by_axis.size())});
    for (std::size_t i = 0; i < by_axis.size(); ++i)
      moved.data<std::int64_t>()[i] = by_axis[static_cast<std::size_t>(perm[i % 3]) + i / 3 * 3];
    return moved;
  };
  const Tensor x = own({2, 3, 4});
  const std::pair<std::string, Attribute> along{"axis", axis(1)};
  const std::string key = key_of(op);
  if (key == "Concat") return OpCall{.op = key, .inputs = {x, own({2, 5, 4})}, .attributes = {along}};
  if (key == "Split") return OpCall{.op = key, .inputs = {x, ints({1, 2})}, .attributes = {along}, .outputs = 2};
  if (key == "Slice") return OpCall{.op = key, .inputs = {x, ints({1}), ints({3}), ints({axis(1)})}};
  if (key == "Pad") return OpCall{.op = key, .inputs = {x, list({0, 1, 0, 2, 0, 3})}};
  if (key == "Expand") return OpCall{.op = key, .inputs = {own({2, 1, 4}), list({2, 3, 4})}};
  if (key == "Tile") return OpCall{.op = key, .inputs = {x, list({2, 1, 3})}};
  if (key == "Softmax" || key == "LogSoftmax") return OpCall{.op = key, .inputs = {x}, .attributes = {along}};
  const Tensor scales = Tensor::of<float>({3}, {0.1F, 0.2F, 0.3F});
  const Tensor zeros = Tensor::of<std::uint8_t>({3}, {1, 2, 3});
  if (key == "QuantizeLinear") return OpCall{.op = key, .inputs = {x, scales, zeros}, .attributes = {along}};
  const Tensor whole = permuted(bytes({2, 3, 4}), perm);
  if (key == "DequantizeLinear") return OpCall{.op = key, .inputs = {whole, scales, zeros}, .attributes = {along}};
  if (key == "DynamicQuantizeLinear") return OpCall{.op = key, .inputs = {x}, .outputs = 3};
  if (key == "saccade.Reorder") return OpCall{.op = "Reorder", .inputs = {x}, .domain = "saccade"};
  if (op.domain != "com.microsoft") return {};
  return quantized(std::string(op.name), std::vector<Tensor>(op.traits.arity.least == 7 ? 2 : 1, whole));
}

std::vector<Tensor> run_poisoned(const OpCall& call) {
  Graph graph;
  Node node{.domain = call.domain, .op = call.op, .name = "node"};
  std::vector<TensorView> inputs;
  for (const Tensor& input : call.inputs) {
    const bool given = !input.empty();
    node.inputs.push_back(given ? graph.add_constant("in" + std::to_string(inputs.size()), input) : ValueId::kNone);
    inputs.push_back(given ? view_of(input) : TensorView{});
  }
  for (const auto& [name, value] : call.attributes) node.attributes.set(name, value);
  for (int i = 0; i < call.outputs; ++i) node.outputs.push_back(graph.add_value("out" + std::to_string(i)));
  KnownValues known(graph);
  std::vector<Tensor> outputs;
  std::vector<TensorView> views;
  for (const TensorType& type : infer_node(graph, node, known)) {
    outputs.emplace_back(type.dtype, type.shape);
    std::memset(outputs.back().raw(), kPoison, outputs.back().bytes());
    views.push_back(view_of(outputs.back()));
  }
  find_op(node.domain, node.op)->reference(KernelContext(node, inputs, views));
  return outputs;
}

}  // namespace saccade::samples
