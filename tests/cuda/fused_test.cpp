#include <algorithm>
#include <random>

#include "op_case/op_case.hpp"
#include "ops/interpreter/infer.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;

OpCase fused(Graph body) {
  OpCase fused("Fused", "saccade");
  for (ValueId id : body.inputs()) {
    const TensorType& type = body.value(id).type;
    fused.input(type.dtype, type.shape);
  }
  return fused.attribute("body", std::make_shared<const Graph>(std::move(body)));
}

TEST(CudaFused, WorkOutChainsAndTrees) {
  GraphBuilder b;
  const ValueId x = b.input("in0", {2, 3, 4, 5});
  const ValueId scaled = b.op("Mul", {b.op("Sigmoid", {x}), b.input("in1", {3, 1, 5})});
  const ValueId chosen = b.op("Where", {b.op("Less", {x, b.scalar(0.5F)}), scaled, b.op("Sub", {x, b.random({4, 1})})});
  fused(b.build({b.op("Div", {chosen, b.scalar(3)})})).check_layouts(on_cuda("fused"));
}

TEST(CudaFused, ReadThroughMoves) {
  GraphBuilder b;
  const ValueId x = b.input("in0", {1, 6, 4, 5});
  const auto parts = b.multi("Split", {x}, 2, {{"axis", 1L}, {"num_outputs", 2L}});
  const ValueId turned = b.op("Transpose", {parts[1]}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  const ValueId back = b.op("Reshape", {turned, b.ints({1, 3, 4, 5})});
  const ValueId backwards = b.op("Slice", {parts[0], b.ints({-1}), b.ints({-100}), b.ints({2}), b.ints({-1})});
  const ValueId joined = b.op("Concat", {b.op("Mul", {back, backwards}), b.op("Exp", {parts[0]}), x}, {{"axis", 1L}});
  const ValueId picked = b.op("Gather", {joined, b.constant(Tensor::scalar<std::int64_t>(2))}, {{"axis", 2L}});
  fused(b.build({b.op("Expand", {b.op("Unsqueeze", {picked, b.ints({2})}), b.ints({2, 12, 3, 5})})}))
      .check_layouts(on_cuda("fused"));
}

/// A product followed by a sum, which must not be contracted to an FMA.
TEST(CudaFused, RoundEveryStepOfFloats) {
  GraphBuilder b;
  const ValueId product = b.op("Mul", {b.input("in0", {1000}), b.input("in1", {1000})});
  const ValueId sum = b.op("Sub", {b.op("Add", {product, b.input("in2", {1000})}), product});
  fused(b.build({sum})).check(on_cuda("fused"), {0, 0});
}

TEST(CudaFused, RoundAtACast) {
  GraphBuilder b;
  const ValueId half = b.op("Cast", {b.input("in0", {1000})}, {{"to", std::int64_t{10}}});
  fused(b.build({b.op("Cast", {half}, {{"to", std::int64_t{1}}})})).check(on_cuda("fused"), {0, 0});
}

/// Tensors so large that a thread computes several elements, with vector accesses where they are contiguous: from
/// aligned and unaligned offsets, along the dimension that is written and along one that is read.
TEST(CudaFused, ShareOutLargeTensors) {
  const Shape shape{8, 256, 264};
  const DType half = DType::kFloat16;
  const Tolerance exact{0, 0};
  OpCase("Transpose")
      .input(half, shape)
      .attribute("perm", std::vector<std::int64_t>{0, 2, 1})
      .check(on_cuda("moves"), exact);
  OpCase("Mul").input(half, shape).input(half, {256, 1}).check_layouts(on_cuda("elements"), {2e-3, 2e-3});
  for (const std::int64_t start : {3, 8})
    OpCase("Slice")
        .input(half, {8, 256, 280})
        .constant(Tensor::of<std::int64_t>({1}, {start}))
        .constant(Tensor::of<std::int64_t>({1}, {start + 264}))
        .constant(Tensor::of<std::int64_t>({1}, {2}))
        .check(on_cuda("moves"), exact);
  for (const std::int64_t size : {64, 61})
    OpCase("Concat")
        .input(half, {8, 256, size})
        .input(half, {8, 256, 264 - size})
        .attribute("axis", std::int64_t{2})
        .check_layouts(on_cuda("moves"), exact);
  GraphBuilder b;
  const ValueId turned =
      b.op("Transpose", {b.input("in0", {8, 264, 256}, half)}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  fused(b.build({b.op("Cast", {b.op("Relu", {turned})}, {{"to", std::int64_t{1}}})}))
      .check_layouts(on_cuda("fused"), exact);
}

/// Generates a random body: operators on values of one type, then a Cast.
class RandomBody {
 public:
  RandomBody(DType dtype, unsigned seed) : random_(seed), dtype_(dtype) {
    values_.push_back(input({draw(1, 3), draw(1, 4), draw(1, 5)}));
  }

  Graph draw_body() {
    const int count = draw(3, 8);
    for (int i = 0; i < count; ++i) values_.push_back(draw_node());
    return builder_.build({values_.back()});
  }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  ValueId input(const Shape& shape) { return builder_.input("in" + std::to_string(inputs_++), shape, dtype_); }
  Shape shape_of(ValueId id) {
    infer_types(builder_.graph());
    return builder_.graph().value(id).type.shape;
  }

  /// Another value of the shape, or an input that broadcasts to it.
  ValueId partner(const Shape& shape) {
    for (ValueId id : values_)
      if (draw(0, 2) == 0 && shape_of(id) == shape) return id;
    Shape own = shape;
    for (int i = 0; i < own.rank(); ++i)
      if (draw(0, 2) == 0) own[i] = 1;
    return input(own);
  }

  ValueId draw_node() {
    const ValueId x = values_[static_cast<std::size_t>(draw(0, static_cast<int>(values_.size()) - 1))];
    const Shape shape = shape_of(x);
    const auto axis = static_cast<std::int64_t>(draw(0, shape.rank() - 1));
    switch (draw(0, 8)) {
      case 0: return builder_.op("Relu", {x});
      case 1: return builder_.op("Neg", {x});
      case 2: return builder_.op(draw(0, 1) == 0 ? "Add" : "Sub", {x, partner(shape)});
      case 3: return builder_.op(draw(0, 1) == 0 ? "Max" : "Mul", {x, partner(shape)});
      case 4: {
        const ValueId other = partner(shape);
        return builder_.op("Where", {builder_.op("Less", {x, other}), other, x});
      }
      case 5: {
        std::vector<std::int64_t> order(static_cast<std::size_t>(shape.rank()));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        std::shuffle(order.begin(), order.end(), random_);
        return builder_.op("Transpose", {x}, {{"perm", order}});
      }
      case 6: {
        const std::int64_t size = shape[static_cast<int>(axis)];
        return builder_.op("Slice", {x, builder_.ints({size / 2}), builder_.ints({size}), builder_.ints({axis})});
      }
      case 7: return builder_.op("Concat", {x, input(shape), x}, {{"axis", axis}});
      default: return builder_.op("Reshape", {x, builder_.ints({shape[0], -1, 1})});
    }
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  DType dtype_;
  int inputs_ = 0;
  std::vector<ValueId> values_;
};

class CudaFusedRandomly : public testing::TestWithParam<DType> {};

TEST_P(CudaFusedRandomly, EqualsTheReference) {
  const DType dtype = GetParam();
  Tolerance tolerance{0, 0};
  if (dtype == DType::kFloat16) tolerance = {2e-2, 1e-2};
  if (dtype == DType::kBFloat16) tolerance = {2e-1, 5e-2};
  for (unsigned seed = 0; seed < 6; ++seed)
    fused(RandomBody(dtype, seed).draw_body())
        .check(on_cuda("fused"), tolerance, seed % 2 == 0 ? Layout::kRowMajor : Layout::kChannelsLast);
}

INSTANTIATE_TEST_SUITE_P(Types, CudaFusedRandomly,
                         testing::Values(DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt64,
                                         DType::kInt32));

}  // namespace
}  // namespace saccade
