#include <gmock/gmock.h>

#include "runtime/cpu_backend.hpp"
#include "runtime/plan.hpp"
#include "support/graph_builder.hpp"
#include "tensor/half.hpp"

// Plans whose weights were packed by another compilation.
namespace saccade {
namespace {

using Attributes = test::GraphBuilder::AttributeList;

/// The output of a node of OP, TACTIC's, whose weights are WEIGHTS; packed weights are read from PACKED, and recorded.
class OneNode {
 public:
  OneNode(std::string op, std::string tactic, const Shape& input, Tensor weights, Attributes attributes = {},
          DType type = DType::kFloat32)
      : op_(std::move(op)),
        tactic_(std::move(tactic)),
        input_(input),
        weights_(std::move(weights)),
        attributes_(std::move(attributes)),
        type_(type) {}

  std::vector<float> run(PackedConstants* packed) const {
    test::GraphBuilder b;
    const ValueId x = b.input("x", input_, type_);
    Graph graph = b.build({b.op(op_, {x, b.constant(weights_)}, attributes_)});
    if (op_ == "Conv")
      for (std::size_t i = 0; i < graph.value_count(); ++i)
        if (Value& value = graph.value(static_cast<ValueId>(i)); !value.constant) value.layout = Layout::kChannelsLast;
    Execution execution(Plan::compile(graph, cpu_backend(), {.threads = 1, .tactics = {tactic_}, .packed = packed}));
    const TensorView in = execution.input(0);
    const Tensor values = test::random_tensor(input_, 3);
    for (std::int64_t i = 0; i < values.elements(); ++i) {
      const float value = values.data<float>()[static_cast<std::size_t>(i)];
      if (type_ == DType::kFloat32)
        in.as<float>()[static_cast<std::size_t>(i)] = value;
      else
        in.as<BFloat16>()[static_cast<std::size_t>(i)] = BFloat16(value);
    }
    execution.run();
    const TensorView out = execution.output(0);
    std::vector<float> read;
    for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      read.push_back(type_ == DType::kFloat32 ? out.as<const float>()[at] : float(out.as<const BFloat16>()[at]));
    }
    return read;
  }

 private:
  std::string op_;
  std::string tactic_;
  Shape input_;
  Tensor weights_;
  Attributes attributes_;
  DType type_;
};

Tensor bfloat16(const Tensor& wide) {
  Tensor narrow(DType::kBFloat16, wide.shape());
  std::ranges::transform(wide.data<float>(), narrow.data<BFloat16>().begin(),
                         [](float value) { return BFloat16(value); });
  return narrow;
}

/// All ways to pack the same 36 x 36 x 3 x 3 weights, or as many in a matrix.
std::vector<OneNode> nodes() {
  const Tensor weights = test::random_tensor({36, 36, 3, 3}, 1);
  const Tensor matrix = test::random_tensor({36, 36, 3, 3}, 1).reshaped({108, 108});
  const Attributes padded{{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}};
  const Attributes strided{{"strides", std::vector<std::int64_t>{2, 2}}};
  const Attributes transposed{{"transB", std::int64_t{1}}};
  const Attributes halved{{"alpha", 0.5F}};
  return {
      {"Conv", "vector.convolution", {1, 36, 20, 20}, weights, padded},
      {"Conv", "vector.convolution", {1, 36, 9, 9}, weights, strided},
      {"Conv", "vector.convolution", {1, 72, 9, 9}, weights, {{"group", std::int64_t{2}}}},
      {"Conv", "vector.winograd", {1, 36, 20, 20}, weights, padded},
      {"MatMul", "vector.matmul", {50, 108}, matrix},
      {"Gemm", "vector.matmul", {50, 108}, matrix, transposed},
      {"Gemm", "vector.matmul", {50, 108}, matrix, halved},
      {"Conv", "bf16.convolution", {1, 36, 20, 20}, bfloat16(weights), padded, DType::kBFloat16},
      {"Conv", "bf16.convolution", {1, 36, 3, 3}, bfloat16(weights), strided, DType::kBFloat16},
      {"Conv", "bf16.convolution", {1, 72, 9, 9}, bfloat16(weights), {{"group", std::int64_t{2}}}, DType::kBFloat16},
      {"MatMul", "bf16.matmul", {50, 108}, bfloat16(matrix), {}, DType::kBFloat16},
      {"Gemm", "bf16.matmul", {50, 108}, bfloat16(matrix), transposed, DType::kBFloat16},
      {"Gemm", "bf16.matmul", {50, 108}, bfloat16(matrix), halved, DType::kBFloat16}};
}

TEST(PackedWeights, OfOnePlanServeTheNext) {
  PackedConstants packed;
  packed.record();
  for (const OneNode& node : nodes()) {
    const std::vector<float> alone = node.run(nullptr);
    EXPECT_EQ(node.run(&packed), alone);
    EXPECT_EQ(node.run(&packed), alone);
  }
}

/// Weights that were changed since show that it is these that are multiplied.
TEST(PackedWeights, OfAFileAreMultiplied) {
  int at = 0;
  for (const OneNode& node : nodes()) {
    SCOPED_TRACE(at++);
    PackedConstants packed;
    packed.record();
    node.run(&packed);
    ASSERT_EQ(packed.tensors().size(), 1U);
    PackedTensors zeros;
    for (const auto& [key, tensor] : packed.tensors()) {
      zeros[key] = Tensor(tensor.dtype(), tensor.shape());
      std::memset(zeros[key].raw(), 0, tensor.bytes());
    }
    PackedConstants changed;
    changed.store(zeros);
    EXPECT_THAT(node.run(&changed), testing::Each(0.0F));
  }
}

}  // namespace
}  // namespace saccade
