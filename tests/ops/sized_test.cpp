#include "ops/interpreter/sized.hpp"

#include "ops/run_op.hpp"

namespace saccade {
namespace {

/// A graph of one Sized: a "t" of 2 x 4 with the first "n" columns valid, and INNER applied to it.
class SizedTest : public testing::Test {
 protected:
  SizedTest() {
    t_ = graph_.add_input("t", {DType::kInt32, {2, 4}});
    n_ = graph_.add_input("n", {DType::kInt64, {}});
    form_.given = {{.tensor = 0, .axis = 1, .count = n_}};
  }

  ValueId output(const std::string& name) {
    const ValueId id = graph_.add_value(name);
    graph_.add_output(id);
    return id;
  }

  void add(Node inner) {
    inner.name = "node";
    graph_.add_node(sized_node(std::move(inner), form_));
    infer_types(graph_);
  }

  std::vector<Tensor> run(std::int64_t count, std::map<std::string, Tensor> more = {}) const {
    more["t"] = Tensor::of<std::int32_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    more["n"] = Tensor::scalar(count);
    return interpret(graph_, more);
  }

  std::string error_of(std::int64_t count) const {
    try {
      run(count);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  Graph graph_;
  ValueId t_;
  ValueId n_;
  SizedForm form_;
};

TEST_F(SizedTest, SeesWhatCounts) {
  form_.capacity = {{DType::kInt32, {4, 2}}};
  const ValueId turned = output("turned");
  form_.made = {{.tensor = 0, .axis = 0, .count = output("rows")}};
  add({.op = "Transpose", .inputs = {t_}, .outputs = {turned}});

  const auto three = run(3);
  expect_tensor<std::int32_t>(three[0], {4, 2}, {1, 5, 2, 6, 3, 7, 0, 0});
  expect_tensor<std::int64_t>(three[1], {}, {3});
  expect_tensor<std::int32_t>(run(4)[0], {4, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  expect_tensor<std::int64_t>(run(0)[1], {}, {0});
  // A count beyond the capacity is clamped.
  expect_tensor<std::int64_t>(run(1'000'000)[1], {}, {4});
  expect_tensor<std::int64_t>(run(-7)[1], {}, {0});
}

TEST_F(SizedTest, LooksIntoContents) {
  form_.capacity = {{DType::kInt64, {2, 8}}};
  const ValueId places = output("places");
  form_.made = {{.tensor = 0, .axis = 1, .count = output("number")}};
  add({.op = "NonZero", .inputs = {t_}, .outputs = {places}});

  const auto got = run(1);
  expect_tensor<std::int64_t>(got[0], {2, 8}, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect_tensor<std::int64_t>(got[1], {}, {2});
}

TEST_F(SizedTest, RefusesMoreThanItsCapacity) {
  form_.capacity = {{DType::kInt32, {2, 3}}};
  const ValueId same = output("same");
  form_.made = {{.tensor = 0, .axis = 1, .count = output("columns")}};
  add({.op = "Identity", .inputs = {t_}, .outputs = {same}});

  EXPECT_EQ(error_of(3), "");
  EXPECT_NE(error_of(4).find("node 'node' (Identity): its output 0 is int32 2x4, but the capacity is int32 2x3"),
            std::string::npos)
      << error_of(4);
}

TEST_F(SizedTest, RefusesAnOutputThatItsOperatorDoesNotHave) {
  form_.capacity = {{DType::kInt32, {2, 4}}, {DType::kFloat32, {}}};
  const ValueId same = output("same");
  add({.op = "Identity", .inputs = {t_}, .outputs = {same, output("another")}});

  EXPECT_NE(error_of(3).find("node 'node' (Identity): the operator has no output 1"), std::string::npos) << error_of(3);
}

TEST_F(SizedTest, RunsUnderItsGuardAlone) {
  // Gather can't run without columns.
  const ValueId first = graph_.add_constant("first", Tensor::scalar(std::int64_t{0}));
  form_.capacity = {{DType::kInt32, {2}}};
  form_.guard = graph_.add_input("runs", {DType::kBool, {}});
  Node gather{.op = "Gather", .inputs = {t_, first}, .outputs = {output("column")}};
  gather.attributes.set("axis", std::int64_t{1});
  add(std::move(gather));

  expect_tensor<std::int32_t>(run(1, {{"runs", Tensor::scalar(true)}})[0], {2}, {1, 5});
  expect_tensor<std::int32_t>(run(0, {{"runs", Tensor::scalar(false)}})[0], {2}, {0, 0});
  EXPECT_THROW(run(0, {{"runs", Tensor::scalar(true)}}), Error);
}

TEST_F(SizedTest, IsRefusedWhereItDoesNotFitItsOperator) {
  const auto error = [](const char* name, Attribute value) {
    Graph graph;
    const ValueId x = graph.add_input("x", {DType::kFloat32, {4}});
    const ValueId n = graph.add_input("n", {DType::kInt64, {}});
    SizedForm form;
    form.given = {{.tensor = 0, .axis = 0, .count = n}};
    form.capacity = {{DType::kFloat32, {4}}};
    Node node = sized_node({.op = "Relu", .inputs = {x}, .outputs = {graph.add_value("y")}}, form);
    if (*name != '\0') node.attributes.set(name, std::move(value));
    graph.add_node(std::move(node));
    try {
      infer_types(graph);
      return ErrorCode::kInternal;
    } catch (const Error& thrown) {
      return thrown.code();
    }
  };
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(error("", {}), ErrorCode::kInternal);  // this one fits
  EXPECT_EQ(error("sized_operator", std::string("Frobnicate")), ErrorCode::kInvalidFile);
  EXPECT_EQ(error("sized_inputs", Integers{0, 1}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error("sized_inputs", Integers{1, 0}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error("sized_inputs", Integers{0, 0, 0, 0, 0, 0}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error("sized_outputs", Integers{0, 0}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error("sized_shapes", Integers{3, 1}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error("sized_shapes", Integers{1, -4}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error("sized_types", Integers{1000}), ErrorCode::kInvalidFile);
}

TEST(Choose, TakesOneOfTwoSizes) {
  const auto one = [](bool condition) {
    return OpCall{.op = "Choose",
                  .inputs = {Tensor::scalar(condition), Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({1}, {3})},
                  .domain = "saccade"}
        .one();
  };
  expect_tensor<float>(one(true), {2}, {1, 2});
  expect_tensor<float>(one(false), {1}, {3});
}

}  // namespace
}  // namespace saccade
