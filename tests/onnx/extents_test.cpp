#include "onnx/import.hpp"
#include "ops/run_op.hpp"

namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::Model;

class ExtentsTest : public ImportTest {
 protected:
  /// "x" of shape 2 x 3 whose NonZero is "places" (2 x 6 at most).
  static Model with_places() {
    Model model(18);
    model.input("x", {2, 3});
    model.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"places"}, .name = "count"});
    return model;
  }

  static std::string name_of_count(const Graph& graph, std::size_t i) {
    return graph.value(graph.outputs()[graph.extents()[i].count]).name;
  }
};

TEST_F(ExtentsTest, BoundAnOutputOfUnknownSize) {
  const Graph graph = import(with_places().output("places"));
  EXPECT_EQ(only_node(graph, "Sized").attributes.text("sized_operator"), "NonZero");
  ASSERT_EQ(graph.data_outputs().size(), 1U);
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{2, 6}));
  ASSERT_EQ(graph.extents().size(), 1U);
  EXPECT_EQ(graph.extents()[0], (Extent{.output = 0, .axis = 1, .count = 1}));
  EXPECT_EQ(name_of_count(graph, 0), "places/count");
}

TEST_F(ExtentsTest, AreNotThereWhereTheSizeIsKnown) {
  Model model(18);
  model.input("x", {2}).initializer(onnx_writer::tensor<float>("c", {2, 2}, {0, 1, 1, 0}));
  model.node({.op = "NonZero", .inputs = {"c"}, .outputs = {"places"}});
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}}).output("shape");
  EXPECT_TRUE(import(model).extents().empty());
}

TEST_F(ExtentsTest, GoThroughWhatWorksSliceBySlice) {
  Model model = with_places();
  model.initializer(onnx_writer::tensor<std::int64_t>("rest", {1}, {-1}));
  model.initializer(onnx_writer::tensor<std::int64_t>("one", {1}, {1}));
  model.input("table", {4, 5, 6});
  model.node({.op = "Transpose", .inputs = {"places"}, .outputs = {"rows"}});            // 6* x 2
  model.node({.op = "GatherND", .inputs = {"x", "rows"}, .outputs = {"values"}});        // 6*
  model.node({.op = "Mul", .inputs = {"values", "values"}, .outputs = {"squares"}});     // 6*
  model.node({.op = "Unsqueeze", .inputs = {"squares", "one"}, .outputs = {"column"}});  // 6* x 1
  model.node({.op = "Reshape", .inputs = {"column", "rest"}, .outputs = {"list"}});      // 6*
  model.node({.op = "Cast", .inputs = {"list"}, .outputs = {"indices"}, .attributes = {attribute("to", 7)}});
  model.node({.op = "Gather", .inputs = {"table", "indices"}, .outputs = {"y"}, .attributes = {attribute("axis", 1)}});
  const Graph graph = import(model.output("y").output("column"));
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{4, 6, 6}));
  ASSERT_EQ(graph.extents().size(), 2U);
  EXPECT_EQ(graph.extents()[0], (Extent{.output = 0, .axis = 1, .count = 2}));
  EXPECT_EQ(graph.extents()[1], (Extent{.output = 1, .axis = 0, .count = 2}));
}

TEST_F(ExtentsTest, AreUnchangedByAddingZero) {
  Model model = with_places();
  for (const auto& [name, value] : {std::pair{"rest", -1}, {"last", 1}, {"zero", 0}, {"one", 1}})
    model.initializer(onnx_writer::tensor<std::int64_t>(name, {1}, {value}));
  model.node({.op = "Transpose", .inputs = {"places"}, .outputs = {"rows"}});  // 6* x 2
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Gather", .inputs = {"shape", "last"}, .outputs = {"number"}});
  model.node({.op = "Add", .inputs = {"zero", "number"}, .outputs = {"sum"}});
  model.node({.op = "Mul", .inputs = {"sum", "one"}, .outputs = {"product"}});
  model.node({.op = "Concat", .inputs = {"product", "rest"}, .outputs = {"to"}, .attributes = {attribute("axis", 0)}});
  model.node({.op = "Reshape", .inputs = {"rows", "to"}, .outputs = {"y"}});
  const Graph graph = import(model.output("y"));
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{6, 2})) << "not 6 x 12";
  expect_tensor<std::int64_t>(interpret(graph, {{"x", Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 1})}})[0], {6, 2},
                              {0, 2, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0});
}

TEST_F(ExtentsTest, GoThroughWhatIsFilledRowByRow) {
  Model model = with_places();
  for (const auto& [name, value] : {std::pair{"last", 1}, {"two", 2}})
    model.initializer(onnx_writer::tensor<std::int64_t>(name, {1}, {value}));
  model.input("firsts", {1, 2}, 7).input("values", {1, 2});
  model.node({.op = "Transpose", .inputs = {"places"}, .outputs = {"rows"}});
  model.node({.op = "Concat", .inputs = {"rows"}, .outputs = {"joined"}, .attributes = {attribute("axis", 0)}});
  model.node({.op = "Shape", .inputs = {"joined"}, .outputs = {"shape"}});
  model.node({.op = "ConstantOfShape", .inputs = {"shape"}, .outputs = {"zeros"}});
  model.node({.op = "ScatterElements", .inputs = {"zeros", "firsts", "values"}, .outputs = {"filled"}});
  model.node({.op = "Cast", .inputs = {"rows"}, .outputs = {"floats"}, .attributes = {attribute("to", 1)}});
  model.node({.op = "Add", .inputs = {"filled", "floats"}, .outputs = {"y"}});
  const Graph graph = import(model.output("y"));
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{6, 2}));
  const auto got = interpret(graph, {{"x", Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 1})},
                                     {"firsts", Tensor::of<std::int64_t>({1, 2}, {-1, 0})},
                                     {"values", Tensor::of<float>({1, 2}, {10, 20})}});
  EXPECT_EQ(got[0].data<float>()[4], 11) << "the last of three rows, not of six";
}

TEST_F(ExtentsTest, AreWorkedOutWhereAnOperatorNeedsTheSize) {
  Model model = with_places();
  model.initializer(onnx_writer::tensor<std::int64_t>("last", {1}, {1}));
  model.initializer(onnx_writer::tensor<std::int64_t>("four", {1}, {4}));
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "ReduceSum", .inputs = {"places", "last"}, .outputs = {"sums"}});
  model.node({.op = "Gather", .inputs = {"shape", "last"}, .outputs = {"number"}});
  model.node({.op = "Min", .inputs = {"number", "four"}, .outputs = {"k"}});
  model.node({.op = "TopK", .inputs = {"places", "k"}, .outputs = {"best", "where"}});
  model.node({.op = "Concat", .inputs = {"places", "best"}, .outputs = {"y"}, .attributes = {attribute("axis", 1)}});
  const Graph graph = import(model.output("shape").output("sums").output("best").output("y"));
  EXPECT_EQ(graph.value(graph.data_outputs()[2]).type.shape, (Shape{2, 4}));
  EXPECT_EQ(graph.value(graph.data_outputs()[3]).type.shape, (Shape{2, 10}));
  ASSERT_EQ(graph.extents().size(), 2U);

  const auto got = interpret(graph, {{"x", Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 1})}});
  expect_tensor<std::int64_t>(got[0], {2}, {2, 3});
  expect_tensor<std::int64_t>(got[1], {2, 1}, {2, 4});
  expect_tensor<std::int64_t>(got[2], {2, 4}, {1, 1, 0, 0, 2, 2, 0, 0});
  expect_tensor<std::int64_t>(got[3], {2, 10}, {0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 2, 0, 2, 2, 2, 0, 0, 0, 0, 0});
  expect_tensor<std::int64_t>(got[4], {}, {3});
  expect_tensor<std::int64_t>(got[5], {}, {6});
}

TEST_F(ExtentsTest, OfDifferentCountsMustAgreeWhenTheGraphRuns) {
  Model model = with_places();
  model.input("z", {4});
  model.node({.op = "NonZero", .inputs = {"z"}, .outputs = {"others"}});
  model.node({.op = "Add", .inputs = {"places", "others"}, .outputs = {"y"}, .name = "sum"});
  const Graph graph = import(model.output("y"));
  const Tensor two = Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 0});

  const auto got = interpret(graph, {{"x", two}, {"z", Tensor::of<float>({4}, {0, 0, 1, 1})}});
  expect_tensor<std::int64_t>(got[0], {2, 6}, {2, 4, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0});
  EXPECT_THROW(interpret(graph, {{"x", two}, {"z", Tensor::of<float>({4}, {1, 0, 1, 1})}}), Error);
}

TEST_F(ExtentsTest, OfAnAxisThatIsNotOpenAreKnown) {
  Model model = with_places();
  model.initializer(onnx_writer::tensor<std::int64_t>("zero", {1}, {0}));
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Gather", .inputs = {"shape", "zero"}, .outputs = {"rank"}});
  model.node({.op = "ConstantOfShape", .inputs = {"rank"}, .outputs = {"y"}});
  const Graph graph = import(model.output("y"));
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{2}));
  EXPECT_TRUE(graph.extents().empty());
}

TEST_F(ExtentsTest, AreNeverMinusOne) {
  // As torch exports expand(): a dimension of -1 keeps its size.
  Model model = with_places();
  model.input("column", {2, 1});
  model.initializer(onnx_writer::tensor<std::int64_t>("minus_one", {1}, {-1}));
  model.initializer(onnx_writer::tensor<std::int64_t>("ones", {2}, {1, 1}));
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Equal", .inputs = {"shape", "minus_one"}, .outputs = {"stays"}});
  model.node({.op = "Where", .inputs = {"stays", "ones", "shape"}, .outputs = {"size"}});
  model.node({.op = "Expand", .inputs = {"column", "size"}, .outputs = {"y"}});
  const Graph graph = import(model.output("y"));
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{2, 6}));

  const auto got = interpret(
      graph, {{"x", Tensor::of<float>({2, 3}, {0, 0, 1, 1, 0, 0})}, {"column", Tensor::of<float>({2, 1}, {7, 8})}});
  expect_tensor<float>(got[0], {2, 6}, {7, 7, 0, 0, 0, 0, 8, 8, 0, 0, 0, 0});
}

TEST_F(ExtentsTest, AreZeroBetweenTwoEndsThatAreTrue) {
  Model model = with_places();
  for (const auto& [name, value] : {std::pair{"last", 1}, {"one", 1}})
    model.initializer(onnx_writer::tensor<std::int64_t>(name, {1}, {value}));
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Gather", .inputs = {"shape", "last"}, .outputs = {"number"}});
  model.node({.op = "Sub", .inputs = {"number", "one"}, .outputs = {"less"}});  // -1 to 5
  model.node({.op = "Cast", .inputs = {"less"}, .outputs = {"y"}, .attributes = {attribute("to", onnx_writer::kBool)}});
  const Graph graph = import(model.output("y"));
  EXPECT_FALSE(interpret(graph, {{"x", Tensor::of<float>({2, 3}, {0, 0, 1, 0, 0, 0})}})[0].data<bool>()[0]);
}

TEST_F(ExtentsTest, AreCastBesideAnOmittedInput) {
  Model model = with_places();
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Cast", .inputs = {"shape", ""}, .outputs = {"y"}, .attributes = {attribute("to", 6)}});
  const Graph graph = import(model.output("y"));
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type, (TensorType{DType::kInt32, {2}}));
}

TEST_F(ExtentsTest, AreWorkedOutInAnyTypeThatHoldsThem) {
  Model model(18);
  model.input("x", {50000});
  for (const auto& [name, value] : {std::pair{"last", 1}, {"none", 0}})
    model.initializer(onnx_writer::tensor<std::int64_t>(name, {1}, {value}));
  model.initializer(onnx_writer::tensor<std::int32_t>("four", {1}, {4}));
  model.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"places"}});
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Gather", .inputs = {"shape", "last"}, .outputs = {"number"}});
  model.node({.op = "Cast", .inputs = {"number"}, .outputs = {"narrow"}, .attributes = {attribute("to", 6)}});
  model.node({.op = "Mul", .inputs = {"narrow", "four"}, .outputs = {"fold"}});
  model.node({.op = "Cast", .inputs = {"fold"}, .outputs = {"wide"}, .attributes = {attribute("to", 7)}});
  model.node({.op = "Equal", .inputs = {"number", "none"}, .outputs = {"empty"}});
  model.node({.op = "Cast", .inputs = {"empty"}, .outputs = {"one"}, .attributes = {attribute("to", 7)}});
  model.node({.op = "Add", .inputs = {"wide", "one"}, .outputs = {"size"}});
  model.node({.op = "ConstantOfShape", .inputs = {"size"}, .outputs = {"y"}});
  const Graph graph = import(model.output("y"));
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{200001}));
}

TEST_F(ExtentsTest, AreRefusedWhereNothingBoundsThem) {
  Model model = with_places();
  model.input("scale", {1}, onnx_writer::kInt64);
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Mul", .inputs = {"shape", "scale"}, .outputs = {"size"}});
  model.node({.op = "ConstantOfShape", .inputs = {"size"}, .outputs = {"y"}, .name = "make"});
  const std::string why = error_of(model.output("y"));
  EXPECT_NE(why.find("node 'make' (ConstantOfShape)"), std::string::npos) << why;
  EXPECT_NE(why.find("depends on the model's inputs"), std::string::npos) << why;
}

TEST_F(ExtentsTest, AreRefusedWhereTheyDecideARank) {
  Model model = with_places();
  model.node({.op = "Squeeze", .inputs = {"places"}, .outputs = {"y"}, .name = "needs"});
  EXPECT_NE(error_of(model.output("y")).find("node 'needs' (Squeeze): Squeeze without axes"), std::string::npos);
}

TEST_F(ExtentsTest, AreRefusedIfTheCapacityWouldBeAbsurd) {
  Model model(18);
  model.input("x", {100000});
  model.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"places"}});
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Concat",
              .inputs = {"shape", "shape", "shape", "shape"},
              .outputs = {"size"},
              .attributes = {attribute("axis", 0)}});
  model.node({.op = "ConstantOfShape", .inputs = {"size"}, .outputs = {"y"}, .name = "make"});
  const std::string why = error_of(model.output("y"));
  EXPECT_NE(why.find("node 'make' (ConstantOfShape): a tensor of shape"), std::string::npos) << why;
  EXPECT_NE(why.find("is too large"), std::string::npos) << why;
}

}  // namespace
}  // namespace saccade
