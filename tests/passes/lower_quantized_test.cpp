#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::operators;
using test::rewrite;

const GraphBuilder::AttributeList kWindow = {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                                             {"channels_last", std::int64_t{0}}};
const GraphBuilder::AttributeList kLastAxis = {{"axis", std::int64_t{-1}}};

ValueId zero(GraphBuilder& b, std::uint8_t value) { return b.constant(Tensor::scalar(value)); }

/// Builds one node of com.microsoft by MAKE; rewrite() compares its results on random numbers.
template <typename Make>
std::string lowered(const Make& make) {
  GraphBuilder b;
  Graph graph = b.build({make(b)});
  return rewrite(graph, "lower_quantized") == 0 ? "" : operators(graph);
}

TEST(LowerQuantized, PoolsRealNumbers) {
  for (const std::string op : {"QLinearAveragePool", "QLinearGlobalAveragePool"})
    EXPECT_EQ(lowered([&](GraphBuilder& b) {
                const ValueId x = b.input("x", {1, 2, 4, 5}, DType::kUInt8);
                return b.op("com.microsoft." + op, {x, b.scalar(0.1F), zero(b, 3), b.scalar(0.2F), zero(b, 9)},
                            op == "QLinearAveragePool" ? kWindow : GraphBuilder::AttributeList{});
              }),
              "DequantizeLinear " + op.substr(7) + " QuantizeLinear");
}

TEST(LowerQuantized, JoinsRealNumbers) {
  EXPECT_EQ(lowered([&](GraphBuilder& b) {
              const ValueId x = b.input("x", {2, 4}, DType::kUInt8);
              const ValueId y = b.input("y", {2, 3}, DType::kUInt8);
              return b.op("com.microsoft.QLinearConcat",
                          {b.scalar(0.3F), zero(b, 7), x, b.scalar(0.1F), zero(b, 3), y, b.scalar(0.2F), zero(b, 9)},
                          kLastAxis);
            }),
            "DequantizeLinear DequantizeLinear Concat QuantizeLinear");
}

TEST(LowerQuantized, KeepsTheTypeWithoutAZeroPoint) {
  EXPECT_EQ(lowered([&](GraphBuilder& b) {
              const ValueId x = b.input("x", {1, 2, 4, 5}, DType::kInt8);
              return b.op("com.microsoft.QLinearGlobalAveragePool",
                          {x, b.scalar(0.1F), ValueId::kNone, b.scalar(0.2F), ValueId::kNone});
            }),
            "DequantizeLinear GlobalAveragePool QuantizeLinear");
}

TEST(LowerQuantized, LeavesHalfScalesAndOtherOperators) {
  EXPECT_EQ(lowered([&](GraphBuilder& b) {
              const ValueId half = b.input("scale", {}, DType::kFloat16);
              const ValueId x = b.input("x", {1, 2, 4, 5}, DType::kUInt8);
              return b.op("com.microsoft.QLinearGlobalAveragePool", {x, half, zero(b, 3), b.scalar(0.2F), zero(b, 9)});
            }),
            "");
  EXPECT_EQ(lowered([&](GraphBuilder& b) {
              const ValueId x = b.input("x", {2, 3}, DType::kUInt8);
              return b.op("com.microsoft.QLinearSigmoid", {x, b.scalar(0.1F), zero(b, 3), b.scalar(0.01F), zero(b, 0)});
            }),
            "");
}

}  // namespace
}  // namespace saccade
