#include "onnx/import.hpp"
#include "ops/run_op.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Model;

class SlicewiseTest : public ImportTest {
 protected:
  /// "x" of shape 2 x 3, and "places", float32, the indices of its non-zero elements (2 x 6 at most).
  static Model with_places() {
    Model model(20);
    model.input("x", {2, 3});
    model.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"integers"}});
    model.node({.op = "Cast", .inputs = {"integers"}, .outputs = {"places"}, .attributes = {attribute("to", 1)}});
    return model;
  }

  static std::vector<std::string> sized(const Graph& graph) {
    std::vector<std::string> operators;
    for (NodeId id : graph.order())
      if (graph.node(id).is("Sized", "saccade")) operators.push_back(graph.node(id).attributes.text("sized_operator"));
    return operators;
  }
};

TEST_F(SlicewiseTest, ElementwiseOperatorsRunOnTheWholeCapacity) {
  for (const char* op : {"Acosh", "Celu", "Elu", "Erf", "Gelu", "HardSwish", "LeakyRelu", "Selu", "Sinh", "Softplus",
                         "Softsign", "ThresholdedRelu"}) {
    SCOPED_TRACE(op);
    Model model = with_places();
    model.node({.op = op, .inputs = {"places"}, .outputs = {"y"}}).output("y");
    const Graph graph = import(model);
    EXPECT_EQ(sized(graph), std::vector<std::string>{"NonZero"});
    ASSERT_EQ(graph.extents().size(), 1U);
    EXPECT_EQ(graph.extents()[0], (Extent{.output = 0, .axis = 1, .count = 1}));
    const Tensor got = interpret(graph, {{"x", Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 1})}})[0];
    const Tensor wanted = OpCall{.op = op, .inputs = {Tensor::of<float>({2, 3}, {0, 1, 1, 2, 0, 2})}}.one();
    for (std::size_t i = 0; i < 6; ++i) {
      const float element = got.data<float>()[i / 3 * 6 + i % 3];
      EXPECT_TRUE(element == wanted.data<float>()[i] || std::isnan(element)) << i;
    }
  }
}

TEST_F(SlicewiseTest, AParameterHasNoOpenAxis) {
  Model model = with_places();
  model.input("z", {2, 6});
  model.node({.op = "CastLike", .inputs = {"z", "places"}, .outputs = {"y"}}).output("y");
  EXPECT_EQ(sized(import(model)), (std::vector<std::string>{"NonZero", "CastLike"}));
  Model other = with_places();
  other.input("z", {5});
  other.node({.op = "CastLike", .inputs = {"places", "z"}, .outputs = {"y"}}).output("y");
  EXPECT_EQ(sized(import(other)), std::vector<std::string>{"NonZero"});
}

}  // namespace
}  // namespace saccade
