#include "import.hpp"
#include "ops/interpreter/interpret.hpp"

// If and Loop are expanded into what they select or repeat.
namespace saccade {
namespace {

using onnx_writer::attribute;
using onnx_writer::graph_attribute;
using onnx_writer::kBool;
using onnx_writer::kInt64;
using onnx_writer::Message;
using onnx_writer::Model;

class ControlFlowTest : public ImportTest {
 protected:
  /// The outputs' elements for X and other inputs by name.
  static std::vector<std::vector<float>> run(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
    std::vector<std::vector<float>> results;
    for (const Tensor& output : interpret(graph, inputs))
      results.emplace_back(output.data<float>().begin(), output.data<float>().end());
    return results;
  }
};

Tensor floats(std::initializer_list<float> values) {
  return Tensor::of<float>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

/// A sub-graph of one node OP that computes RESULT.
Message branch(const std::string& op, const std::vector<std::string>& inputs) {
  return Model(16).node({.op = op, .inputs = inputs, .outputs = {"result"}, .name = op}).output("result").graph();
}

/// y = IF condition THEN YES ELSE NO, with x of two floats in the enclosing graph.
Model choice(const Message& yes, const Message& no) {
  Model model(16);
  model.input("x", {2}).output("y");
  model.node({.op = "If",
              .inputs = {"condition"},
              .outputs = {"y"},
              .attributes = {graph_attribute("then_branch", yes), graph_attribute("else_branch", no)},
              .name = "choice"});
  return model;
}

Model& with_condition(Model& model, bool value) {
  return model.initializer(onnx_writer::raw_tensor("condition", kBool, {}, std::string(1, value ? '\1' : '\0')));
}

TEST_F(ControlFlowTest, AKnownConditionLeavesItsBranchAlone) {
  Model model = choice(branch("Neg", {"x"}), branch("Abs", {"x"}));

  const Graph yes = import(with_condition(model, true));

  EXPECT_EQ(only_node(yes, "Neg").name, "choice/then_branch/Neg");
  EXPECT_EQ(run(yes, {{"x", floats({3, -4})}})[0], (std::vector<float>{-3, 4}));
  for (NodeId id : yes.order()) EXPECT_NE(yes.node(id).op, "Abs");
}

TEST_F(ControlFlowTest, TheShapesOfTheBranchThatIsNotTakenDoNotCount) {
  Model model = choice(branch("Concat", {"x", "x"}), branch("Abs", {"x"}));
  Model& known = with_condition(model, false);

  const Graph graph = import(known);

  EXPECT_EQ(run(graph, {{"x", floats({3, -4})}})[0], (std::vector<float>{3, 4}));
}

TEST_F(ControlFlowTest, AConditionMayFollowFromAShape) {
  // As torch exports squeeze(): the condition is whether the dimension is 1.
  Model model = choice(branch("Neg", {"x"}), branch("Identity", {"x"}));
  model.initializer(onnx_writer::tensor<std::int64_t>("two", {1}, {2}));
  model.node({.op = "Shape", .inputs = {"x"}, .outputs = {"shape"}});
  model.node({.op = "Equal", .inputs = {"shape", "two"}, .outputs = {"condition"}});

  const Graph graph = import(model);

  EXPECT_EQ(run(graph, {{"x", floats({3, -4})}})[0], (std::vector<float>{-3, 4}));
}

TEST_F(ControlFlowTest, AConditionOfTheRunChoosesBetweenEqualShapes) {
  Model model = choice(branch("Neg", {"x"}), branch("Abs", {"x"}));
  model.input("condition", {1}, kBool);

  const Graph graph = import(model);

  const auto with = [&](bool condition) {
    return run(graph, {{"x", floats({3, -4})}, {"condition", Tensor::of<bool>({1}, {condition})}})[0];
  };
  EXPECT_EQ(with(true), (std::vector<float>{-3, 4}));
  EXPECT_EQ(with(false), (std::vector<float>{3, 4}));
}

/// The valid elements of output I of a graph whose data outputs are float lists.
std::vector<float> counted(const Graph& graph, const std::map<std::string, Tensor>& inputs, std::size_t i = 0) {
  const std::vector<Tensor> outputs = interpret(graph, inputs);
  const auto all = outputs[i].data<float>();
  auto size = static_cast<std::size_t>(outputs[i].elements());
  for (const Extent& extent : graph.extents())
    if (extent.output == i)
      size = size / static_cast<std::size_t>(outputs[i].shape()[extent.axis]) *
             static_cast<std::size_t>(outputs[extent.count].data<std::int64_t>()[0]);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)};
}

TEST_F(ControlFlowTest, AConditionOfTheRunMayDecideASize) {
  Message twice =
      Model(16)
          .node({.op = "Concat", .inputs = {"x", "x"}, .outputs = {"result"}, .attributes = {attribute("axis", 0)}})
          .output("result")
          .graph();
  Model model = choice(twice, branch("Abs", {"x"}));
  model.input("condition", {}, kBool);

  const Graph graph = import(model);

  const auto with = [&](bool condition) {
    return counted(graph, {{"x", floats({3, -4})}, {"condition", Tensor::scalar(condition)}});
  };
  EXPECT_EQ(graph.value(graph.data_outputs()[0]).type.shape, (Shape{4}));
  EXPECT_EQ(with(true), (std::vector<float>{3, -4, 3, -4}));
  EXPECT_EQ(with(false), (std::vector<float>{3, 4}));
}

TEST_F(ControlFlowTest, AConditionOfTheRunCanNotDecideARank) {
  Model model =
      choice(Model(16).initializer(onnx_writer::tensor<float>("matrix", {1, 2}, {5, 6})).output("matrix").graph(),
             branch("Abs", {"x"}));
  model.input("condition", {}, kBool);

  EXPECT_EQ(error_of(model),
            "model.onnx: node 'choice' (If): its condition depends on the model's inputs and decides between float32 "
            "1x2 and float32 2; types and ranks must be known");
}

TEST_F(ControlFlowTest, BranchesMayHoldConstantsAndNestAndPassValuesOn) {
  // if c { if c { x } else { -x } } else { 5 5 }
  const Message inner = Model(16).output("x").graph();
  Message outer = Model(16)
                      .node({.op = "If",
                             .inputs = {"condition"},
                             .outputs = {"result"},
                             .attributes = {graph_attribute("then_branch", inner),
                                            graph_attribute("else_branch", branch("Neg", {"x"}))},
                             .name = "inner"})
                      .output("result")
                      .graph();
  const Message fives = Model(16).initializer(onnx_writer::tensor<float>("fives", {2}, {5, 5})).output("fives").graph();
  Model yes = choice(outer, fives);
  Model no = choice(outer, fives);

  EXPECT_EQ(run(import(with_condition(yes, true)), {{"x", floats({3, -4})}})[0], (std::vector<float>{3, -4}));
  EXPECT_EQ(run(import(with_condition(no, false)), {{"x", floats({3, -4})}})[0], (std::vector<float>{5, 5}));
}

/// A body that adds x to a sum, and collects the sums: (i, c, sum) -> (GOES_ON, sum + x, sum + x).
Model adding_body(const std::string& goes_on) {
  Model body(16);
  body.input("i", {}, kInt64).input("c", {}, kBool).input("sum", {2});
  body.node({.op = "Add", .inputs = {"sum", "x"}, .outputs = {"new_sum"}, .name = "add"});
  body.node({.op = "Identity", .inputs = {"new_sum"}, .outputs = {"row"}, .name = "row"});
  return body.output(goes_on).output("new_sum").output("row");
}

/// last, rows = LOOP over BODY, starting with zeros.
Model loop(const Message& body, const std::string& limit, const std::string& condition, bool collects = true) {
  Model model(16);
  model.input("x", {2}).output("last");
  if (collects) model.output("rows");
  model.initializer(onnx_writer::tensor<float>("zeros", {2}, {0, 0}));
  model.node({.op = "Loop",
              .inputs = {limit, condition, "zeros"},
              .outputs = collects ? std::vector<std::string>{"last", "rows"} : std::vector<std::string>{"last"},
              .attributes = {graph_attribute("body", body)},
              .name = "loop"});
  return model;
}

TEST_F(ControlFlowTest, AKnownNumberOfIterationsIsUnrolled) {
  Model model = loop(adding_body("c").graph(), "limit", "");
  model.initializer(onnx_writer::tensor<std::int64_t>("limit", {}, {3}));

  const Graph graph = import(model);

  EXPECT_EQ(graph.value(graph.outputs()[1]).type.shape, (Shape{3, 2}));
  const auto results = run(graph, {{"x", floats({1, 10})}});
  EXPECT_EQ(results[0], (std::vector<float>{3, 30}));
  EXPECT_EQ(results[1], (std::vector<float>{1, 10, 2, 20, 3, 30}));
}

TEST_F(ControlFlowTest, AConditionThatFollowsFromTheIterationEndsTheLoop) {
  // Continues while i < 1: two iterations, without a limit.
  Model body = adding_body("goes_on");
  body.initializer(onnx_writer::tensor<std::int64_t>("one", {}, {1}));
  body.node({.op = "Less", .inputs = {"i", "one"}, .outputs = {"goes_on"}});

  const Graph graph = import(loop(body.graph(), "", ""));

  EXPECT_EQ(run(graph, {{"x", floats({1, 10})}})[1], (std::vector<float>{1, 10, 2, 20}));
}

TEST_F(ControlFlowTest, AConditionOfTheRunKeepsTheValuesAsTheyWere) {
  // Continues while the first sum is below 3, at most five times.
  Model body = adding_body("goes_on");
  body.initializer(onnx_writer::tensor<float>("three", {}, {3}));
  body.initializer(onnx_writer::tensor<std::int64_t>("first", {}, {0}));
  body.node({.op = "Gather", .inputs = {"new_sum", "first"}, .outputs = {"first_sum"}});
  body.node({.op = "Less", .inputs = {"first_sum", "three"}, .outputs = {"goes_on"}});
  Model model = loop(body.graph(), "limit", "", false);
  model.initializer(onnx_writer::tensor<std::int64_t>("limit", {}, {5}));

  const Graph graph = import(model);

  EXPECT_EQ(run(graph, {{"x", floats({1, 10})}})[0], (std::vector<float>{3, 30}));
  EXPECT_EQ(run(graph, {{"x", floats({2, 10})}})[0], (std::vector<float>{4, 20}));
  EXPECT_EQ(run(graph, {{"x", floats({0.5F, 10})}})[0], (std::vector<float>{2.5F, 50}));
}

TEST_F(ControlFlowTest, AConditionOfTheRunEndsTheRowsToo) {
  Model model = loop(adding_body("c").graph(), "limit", "condition");
  model.input("condition", {}, kBool).initializer(onnx_writer::tensor<std::int64_t>("limit", {}, {3}));

  const Graph graph = import(model);

  const auto with = [&](bool condition) {
    return counted(graph, {{"x", floats({1, 10})}, {"condition", Tensor::scalar(condition)}}, 1);
  };
  EXPECT_EQ(with(true), (std::vector<float>{1, 10, 2, 20, 3, 30}));
  EXPECT_EQ(with(false), std::vector<float>{});
}

TEST_F(ControlFlowTest, ANumberOfIterationsThatTheRunCountsHasALimit) {
  // One iteration per non-zero number: at most two.
  Model model = loop(adding_body("c").graph(), "limit", "");
  model.initializer(onnx_writer::tensor<std::int64_t>("one", {}, {1}));
  model.node({.op = "NonZero", .inputs = {"x"}, .outputs = {"places"}});
  model.node({.op = "Shape", .inputs = {"places"}, .outputs = {"shape"}});
  model.node({.op = "Gather", .inputs = {"shape", "one"}, .outputs = {"limit"}});

  const Graph graph = import(model);

  EXPECT_EQ(counted(graph, {{"x", floats({1, 10})}})[1], 20);
  EXPECT_EQ(counted(graph, {{"x", floats({1, 10})}}, 1), (std::vector<float>{1, 10, 2, 20}));
  EXPECT_EQ(counted(graph, {{"x", floats({0, 7})}}, 1), (std::vector<float>{0, 7}));
  EXPECT_EQ(counted(graph, {{"x", floats({0, 0})}}, 1), std::vector<float>{});
}

TEST_F(ControlFlowTest, RefusesLoopsWhoseShapesDependOnTheRun) {
  Model open = loop(adding_body("c").graph(), "limit", "");
  open.input("limit", {}, kInt64);
  EXPECT_EQ(error_of(open),
            "model.onnx: node 'loop' (Loop): its number of iterations depends on the model's inputs; export the model "
            "with static shapes");

  EXPECT_EQ(error_of(loop(adding_body("c").graph(), "", "")),
            "model.onnx: node 'loop' (Loop): its sub-graph would be copied to more than 200000 nodes and values, which "
            "is not "
            "supported");
}

TEST_F(ControlFlowTest, RefusesSubGraphsThatDoNotFit) {
  Model nothing(16);
  nothing.input("condition", {}, kBool).output("y");
  nothing.node({.op = "If", .inputs = {"condition"}, .outputs = {"y"}, .name = "choice"});
  EXPECT_EQ(error_of(nothing), "model.onnx: node 'choice' (If): it has no sub-graph 'then_branch'");

  Model typo = choice(branch("Neg", {"nowhere"}), branch("Abs", {"x"}));
  EXPECT_EQ(error_of(with_condition(typo, true)),
            "model.onnx: node 'choice' (If) reads 'nowhere', which no node produces");

  Model few = choice(Model(16).output("x").graph(), Model(16).graph());
  EXPECT_EQ(error_of(with_condition(few, false)),
            "model.onnx: node 'choice' (If): it has 1 outputs, but its sub-graph only 0");

  Model unknown = choice(branch("Neg", {"x"}), branch("Frobnicate", {"x"}));
  EXPECT_EQ(error_of(with_condition(unknown, true)),
            "model.onnx: 1 operator is not supported: Frobnicate (1 node, e.g. 'choice/else_branch/Frobnicate')");

  Model wrong_body = loop(Model(16).input("i", {}, kInt64).output("i").graph(), "", "");
  EXPECT_EQ(error_of(wrong_body), "model.onnx: node 'loop' (Loop): its body does not fit its 3 inputs");
}

TEST_F(ControlFlowTest, RefusesSubGraphsWithoutEnd) {
  Message nested = branch("Neg", {"x"});
  for (int i = 0; i < 40; ++i)
    nested = Model(16)
                 .node({.op = "If",
                        .inputs = {"condition"},
                        .outputs = {"result"},
                        .attributes = {graph_attribute("then_branch", nested),
                                       graph_attribute("else_branch", branch("Neg", {"x"}))},
                        .name = "n"})
                 .output("result")
                 .graph();
  Model model = choice(nested, nested);

  EXPECT_NE(error_of(with_condition(model, true)), "");
}

TEST_F(ControlFlowTest, EveryFlippedByteIsReadOrRefused) {
  Model model = loop(adding_body("c").graph(), "limit", "");
  model.initializer(onnx_writer::tensor<std::int64_t>("limit", {}, {3}));
  const std::string whole = model.bytes();

  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char mask : {'\x01', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      write("damaged.onnx", damaged);
      refused += error_of(file("damaged.onnx")).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, whole.size());
}

TEST_F(ControlFlowTest, ACopyCountsWithItsConstantsAndItsRows) {
  constexpr const char* kError =
      "model.onnx: node 'loop' (Loop): its sub-graph would be copied to more than 200000 nodes and values, which is "
      "not "
      "supported";
  const auto of_body = [&](Model body, int rows) {
    body.input("i", {}, kInt64).input("c", {}, kBool).input("a", {2}).output("c").output("r");
    body.node({.op = "Neg", .inputs = {"a"}, .outputs = {"r"}});
    for (int i = 0; i < rows; ++i) body.output("r");
    Model model(16);
    model.input("x", {2}).output("y");
    model.initializer(onnx_writer::tensor<std::int64_t>("limit", {}, {1000}));
    model.node({.op = "Loop",
                .inputs = {"limit", "", "x"},
                .outputs = {"y"},
                .attributes = {graph_attribute("body", body.graph())},
                .name = "loop"});
    return error_of(model);
  };
  Model constants(16);
  for (int i = 0; i < 300; ++i) constants.initializer(onnx_writer::tensor<float>(fmt::format("k{}", i), {1}, {1}));

  EXPECT_EQ(of_body(Model(16), 0), "");
  EXPECT_EQ(of_body(constants, 0), kError);
  EXPECT_EQ(of_body(Model(16), 300), kError);
}

}  // namespace
}  // namespace saccade
