#include "runtime/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "graph/verify.hpp"
#include "ops/interpreter/infer.hpp"
#include "ops/interpreter/sized.hpp"
#include "runtime/plan_container.hpp"
#include "runtime/plan_file.hpp"
#include "runtime/reference_backend.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

const ReferenceBackend kBackend;

/// y = relu(x + bias) reshaped to 6; z = y + y. Outputs y (a view) and z.
Graph small_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2, 3}});
  const ValueId bias = graph.add_constant("bias", Tensor::of<float>({3}, {1, 0, -4}));
  const ValueId target = graph.add_constant("target", Tensor::of<std::int64_t>({1}, {6}));
  const ValueId sum = graph.add_value("sum");
  const ValueId positive = graph.add_value("positive");
  const ValueId y = graph.add_value("y");
  const ValueId z = graph.add_value("z");
  graph.add_node({.op = "Add", .name = "add", .inputs = {x, bias}, .outputs = {sum}});
  graph.add_node({.op = "Relu", .name = "relu", .inputs = {sum}, .outputs = {positive}});
  graph.add_node({.op = "Reshape", .name = "reshape", .inputs = {positive, target}, .outputs = {y}});
  graph.add_node({.op = "Add", .name = "twice", .inputs = {y, y}, .outputs = {z}});
  graph.add_output(y);
  graph.add_output(z);
  infer_types(graph);
  return graph;
}

void fill(const TensorView& view, std::initializer_list<float> values) {
  std::ranges::copy(values, view.as<float>().begin());
}

std::vector<float> read(const TensorView& view) {
  const auto values = view.as<const float>();
  return {values.begin(), values.end()};
}

TEST(Plan, RunsAGraph) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  fill(execution.input(0), {1, 2, 3, -5, 0, 9});
  execution.run();
  EXPECT_EQ(read(execution.output(0)), (std::vector<float>{2, 2, 0, 0, 0, 5}));
  EXPECT_EQ(read(execution.output(1)), (std::vector<float>{4, 4, 0, 0, 0, 10}));
}

/// What compiling a graph within MAX_MEMORY throws.
std::string error_of(Graph graph, std::size_t max_memory) {
  try {
    Plan::compile(std::move(graph), kBackend, {.max_memory = max_memory});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Plan, NamesWhatTheMemoryLimitHasNoRoomFor) {
  const auto graph = [](std::int64_t rows) {
    Graph made;
    const ValueId x = made.add_input("x", {DType::kFloat32, {rows, 1}});
    const ValueId shape = made.add_constant("shape", Tensor::of<std::int64_t>({2}, {rows, 1024}));
    const ValueId y = made.add_value("y");
    const ValueId z = made.add_value("z");
    made.add_node({.op = "Expand", .name = "wide", .inputs = {x, shape}, .outputs = {y}});
    made.add_node({.op = "Relu", .name = "relu", .inputs = {y}, .outputs = {z}});
    made.add_output(z);
    infer_types(made);
    return made;
  };
  constexpr std::size_t kMegabyte = 1 << 20;

  EXPECT_EQ(error_of(graph(256), 4 * kMegabyte), "");
  // The arena's 2 MiB fit; what comes out must have a place, too.
  EXPECT_TRUE(error_of(graph(256), 3 * kMegabyte).starts_with("the output 'z' (256x1024): it needs 1.0 MiB"));
  // The first tensor that has no room ends it: nothing is allocated for the 4 TiB after it.
  EXPECT_TRUE(error_of(graph(std::int64_t{1} << 30), kMegabyte).starts_with("input 'x': it needs 4.0 GiB"));
  EXPECT_TRUE(error_of(graph(512), kMegabyte).starts_with("node 'wide' (Expand): it needs 2.0 MiB"));
  // Each tensor has room, the two that live at a time do not.
  const std::string error = error_of(graph(256), kMegabyte + kMegabyte / 2);
  EXPECT_TRUE(error.starts_with("the memory for all tensors, the largest by node 'wide' (Expand): it needs 2.0 MiB"))
      << error;
}

TEST(Plan, SaysWhyItsTacticIsNotTheOneAskedFor) {
  const auto refusal = [](std::string tactic) {
    CompileOptions options;
    options.tactics = {std::move(tactic)};
    try {
      Plan::compile(small_graph(), kBackend, options);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("tiled"), "node 'add' (Add): the reference backend has no tactic tiled: remove the choice");
}

TEST(Plan, RunsAgainOnTheSameInput) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  fill(execution.input(0), {1, 2, 3, -5, 0, 9});
  execution.run();
  execution.run();
  EXPECT_EQ(read(execution.output(1)), (std::vector<float>{4, 4, 0, 0, 0, 10}));
}

TEST(Plan, ReadsNothingThatItHasNotWritten) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  execution.poison();
  fill(execution.input(0), {1, 1, 1, 1, 1, 1});
  execution.run();
  for (float value : read(execution.output(1))) EXPECT_FALSE(std::isnan(value));
}

TEST(Plan, GivesAViewItsInputsMemory) {
  const auto plan = Plan::compile(small_graph(), kBackend, {});
  EXPECT_EQ(plan->steps()[2].launch, nullptr);
  // x, sum, positive (= y) and z take 24 bytes each; y takes none of its own.
  EXPECT_EQ(plan->tensor_bytes(), 4 * 24);
  EXPECT_LE(plan->arena_bytes(), 4 * 64);
}

TEST(Plan, TakesATransposeThatMovesNothingForAView) {
  const auto first_step_of = [](std::initializer_list<std::int64_t> order) {
    test::GraphBuilder b;
    const ValueId x = b.input("x", {1, 2, 3});
    const ValueId turned = b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>(order)}});
    return Plan::compile(b.build({b.op("Neg", {turned})}), kBackend, {})->steps()[0].launch;
  };
  EXPECT_EQ(first_step_of({1, 0, 2}), nullptr) << "of one element is dimension 0";
  EXPECT_NE(first_step_of({0, 2, 1}), nullptr);
}

TEST(Plan, RunsOnTwoThreadsAtOnceWithEqualAnswers) {
  const auto plan = Plan::compile(small_graph(), kBackend, {});
  std::vector<std::vector<float>> answers(2);
  std::vector<std::thread> threads;
  for (std::vector<float>& answer : answers) {
    threads.emplace_back([&plan, &answer] {
      Execution execution(plan);
      for (int i = 0; i < 200; ++i) {
        fill(execution.input(0), {1, 2, 3, 4, 5, 6});
        execution.run();
      }
      answer = read(execution.output(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers[0], (std::vector<float>{4, 4, 0, 10, 10, 4}));
  EXPECT_EQ(answers[1], answers[0]);
}

TEST(Plan, WritesDownWhenEveryLaunchRan) {
  Execution execution(Plan::compile(small_graph(), kBackend, {}));
  std::vector<StepTime> times(execution.plan().steps().size());
  execution.time_steps(times);
  execution.run();
  Clock::time_point last;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i == 2) {  // a view
      EXPECT_EQ(times[i].start, Clock::time_point());
      continue;
    }
    EXPECT_GT(times[i].start, last);
    EXPECT_GE(times[i].end, times[i].start);
    last = times[i].start;
  }
  std::fill(times.begin(), times.end(), StepTime());
  execution.time_steps({});
  execution.run();
  EXPECT_EQ(times[0].start, Clock::time_point());
  EXPECT_THROW(execution.time_steps(std::span(times).first(1)), Error);
}

class PlanFile : public testing::Test {
 protected:
  void write(const std::string& bytes) const { folder_.write(kName, bytes); }
  std::string bytes() const { return test::bytes_of_file(path_); }
  /// Writes the plan file WHOLE with LIE at PLACE of its header, and the checksum that belongs to it.
  void write_lie(const std::string& whole, const char* place, const char* lie) const {
    const PlanLayout layout = plan_layout(whole, whole.size());
    auto header = nlohmann::json::parse(plan_header(whole, layout));
    header[nlohmann::json::json_pointer(place)] = nlohmann::json::parse(lie);
    write(seal_plan(header.dump(), plan_blob(whole, layout)));
  }
  /// Writes the plan file WHOLE with its last byte BYTE, and the checksum that belongs to it.
  void write_last_byte(const std::string& whole, char byte) const {
    const PlanLayout layout = plan_layout(whole, whole.size());
    std::string blob(plan_blob(whole, layout));
    blob.back() = byte;
    write(seal_plan(plan_header(whole, layout), blob));
  }

  /// What opening the file throws; "" where it opens.
  std::string load_error() const {
    try {
      load_plan(path_);
      return "";
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal);
      return error.what();
    }
  }

  static constexpr const char* kName = "model.plan";
  test::TempFolder folder_;
  const std::string path_ = folder_ / kName;
};

TEST_F(PlanFile, GivesTheSameAnswersWhenOpenedAgain) {
  Graph graph = small_graph();
  graph.node(NodeId{1}).post_ops.push_back({.op = "Clip", .alpha = 0, .beta = 3});
  graph.metadata["author"] = "nobody";
  save_plan(path_, graph, {});
  ASSERT_TRUE(is_plan_file(path_));
  const auto opened = Plan::compile(load_plan(path_).graph, kBackend, {});
  EXPECT_EQ(opened->graph().metadata.at("author"), "nobody");
  Execution execution(opened);
  fill(execution.input(0), {1, 2, 3, -5, 0, 9});
  execution.run();
  EXPECT_EQ(read(execution.output(0)), (std::vector<float>{2, 2, 0, 0, 0, 3}));
}

/// Of one node, whose body doubles what a constant of its own is added to.
Graph fused_graph() {
  Graph body;
  const ValueId in = body.add_input("in0", {DType::kFloat32, {2}});
  const ValueId sum = body.add_value("sum");
  const ValueId out = body.add_value("out");
  const ValueId one = body.add_constant("one", Tensor::scalar(1.0F));
  body.add_node({.op = "Add", .name = "sum", .inputs = {in, one}, .outputs = {sum}});
  body.add_node({.op = "Add", .name = "out", .inputs = {sum, sum}, .outputs = {out}});
  body.add_output(out);
  infer_types(body);
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2}});
  const ValueId y = graph.add_value("y");
  Node node{.domain = "saccade", .op = "Fused", .name = "y", .inputs = {x}, .outputs = {y}};
  node.attributes.set("body", std::make_shared<const Graph>(std::move(body)));
  graph.add_node(std::move(node));
  graph.add_output(y);
  infer_types(graph);
  return graph;
}

TEST_F(PlanFile, KeepsBodies) {
  save_plan(path_, fused_graph(), {});
  Execution execution(Plan::compile(load_plan(path_).graph, kBackend, {}));
  fill(execution.input(0), {1, 5});
  execution.run();
  EXPECT_EQ(read(execution.output(0)), (std::vector<float>{4, 12}));
  write_lie(bytes(), "/graph/nodes/0/attributes/body/g/values/0/shape", "[3]");
  EXPECT_NE(load_error().find("its body takes float32 3"), std::string::npos) << load_error();
}

/// Which of two numbers are not zero.
Graph counting_graph() {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kFloat32, {2}});
  const ValueId places = graph.add_value("places");
  const ValueId count = graph.add_value("count");
  SizedForm form;
  form.made = {{.tensor = 0, .axis = 1, .count = count}};
  form.room = {{DType::kInt64, {1, 2}}};
  graph.add_node(sized_node({.op = "NonZero", .name = "count", .inputs = {x}, .outputs = {places}}, form));
  graph.set_outputs({places, count});
  graph.set_extents({{.output = 0, .axis = 1, .count = 1}});
  infer_types(graph);
  return graph;
}

TEST_F(PlanFile, KeepsExtents) {
  save_plan(path_, counting_graph(), {});
  Execution execution(Plan::compile(load_plan(path_).graph, kBackend, {}));
  fill(execution.input(0), {0, 7});
  execution.run();
  const std::vector<Tensor> answers = read_answers(execution);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].shape(), (Shape{1, 1}));
  EXPECT_EQ(answers[0].data<std::int64_t>()[0], 1);
}

TEST_F(PlanFile, RefusesAnExtentThatNothingCounts) {
  Graph graph = counting_graph();
  for (const Extent& wrong : {Extent{.output = 0, .axis = 2, .count = 1}, Extent{.output = 0, .axis = 1, .count = 2},
                              Extent{.output = 0, .axis = 1, .count = 0}, Extent{.output = 9, .axis = 1, .count = 1}}) {
    graph.set_extents({wrong});
    EXPECT_THROW(verify(graph), Error) << wrong.output << ' ' << wrong.axis << ' ' << wrong.count;
  }
}

TEST_F(PlanFile, RefusesExtentsOfNoWholeNumbers) {
  save_plan(path_, counting_graph(), {});
  const std::string whole = bytes();
  for (const auto& [place, lie] : {std::pair{"/graph/extents/0/output", "0.5"},
                                   {"/graph/extents/0/axis", "1.5"},
                                   {"/graph/extents/0/count", "1.5"},
                                   {"/graph/extents/0/count", "-1"}}) {
    write_lie(whole, place, lie);
    EXPECT_THROW(load_plan(path_), Error) << place << " = " << lie;
  }
}

/// A plan with something in each of its parts.
void save_full_plan(const std::string& path) {
  save_plan(path, small_graph(),
            {.backend = "cuda",
             .card = "task = \"detect\"",
             .choices = {{"node", {"tiled", "16x8"}}},
             .kernels = {{"a", std::string(300, 'k')}, {"b", std::string(70, 'c')}}});
}

TEST_F(PlanFile, RefusesEveryFlippedBit) {
  save_full_plan(path_);
  const std::string whole = bytes();
  const PlanLayout layout = plan_layout(whole, whole.size());
  const std::size_t kernels = whole.find(std::string(300, 'k'));
  ASSERT_NE(kernels, std::string::npos);
  // What stands before the header, the header, constants, kernels: 256 places of each.
  const std::size_t borders[] = {0, kPlanPrefix, layout.blob, kernels, whole.size()};
  std::mt19937 random(7);
  for (std::size_t part = 0; part + 1 < std::size(borders); ++part) {
    std::uniform_int_distribution<std::size_t> place(borders[part], borders[part + 1] - 1);
    for (int i = 0; i < 256; ++i) {
      const std::size_t at = place(random);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
      write(damaged);
      const std::string error = load_error();
      EXPECT_NE(error, "") << "byte " << at << " of " << whole.size();
      EXPECT_EQ(error.find('\n'), std::string::npos) << error;
      // A header is believed without the rest.
      if (at < layout.blob) {
        EXPECT_THROW(backend_of_plan(path_), Error) << at;
      }
    }
  }
  write(whole);
  EXPECT_EQ(load_error(), "");
}

TEST_F(PlanFile, RefusesEveryTruncation) {
  save_full_plan(path_);
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_NE(load_error(), "") << length << " of " << whole.size() << " bytes";
    if (length >= 12) {
      EXPECT_NE(load_error().find("truncated"), std::string::npos) << load_error();
    }
  }
}

TEST_F(PlanFile, RefusesWhatWasAppended) {
  save_full_plan(path_);
  const std::string whole = bytes();
  for (const std::size_t more : {std::size_t{1}, std::size_t{64}, whole.size()}) {
    write(whole + whole.substr(0, more));
    EXPECT_NE(load_error().find(std::to_string(more) + " bytes too many"), std::string::npos) << load_error();
    EXPECT_THROW(backend_of_plan(path_), Error);
  }
}

TEST_F(PlanFile, SaysWhichVersionItIs) {
  save_full_plan(path_);
  std::string old = bytes();
  old[8] = 4;
  write(old);
  EXPECT_EQ(load_error(), path_ + ": it is a plan of version 4, this saccade reads 5: compile it again");
}

TEST_F(PlanFile, RefusesHeadersThatLie) {
  save_plan(path_, small_graph(), {});
  const std::string whole = bytes();
  const auto with = [&](const char* place, const char* lie) { write_lie(whole, place, lie); };
  with("/graph/name", "\"another\"");
  EXPECT_EQ(load_plan(path_).graph.name, "another");

  const std::string post = R"({"op": "Relu", "alpha": 0, "beta": 0, "operand": -1})";
  std::string many = "[" + post;
  for (int i = 0; i < 20; ++i) many += ", " + post;
  many += "]";
  const std::pair<const char*, const char*> lies[] = {
      {"/graph/nodes/0/attributes", R"({"axis": {}})"},
      {"/graph/nodes/0/attributes", R"({"axis": null})"},
      {"/graph/nodes/0/attributes", R"({"axis": {"i": 1.5}})"},
      {"/graph/nodes/0/attributes", R"({"axis": {"is": [1e300]}})"},
      {"/graph/nodes/0/inputs/0", "1e300"},
      {"/graph/nodes/0/inputs/0", "4294967296"},
      {"/graph/nodes/0/inputs/0", "-7"},
      {"/graph/nodes/0/stage", "2.5"},
      {"/graph/nodes/0/post_ops", many.c_str()},
      {"/graph/nodes/0/post_ops", R"([{"op": "Relu", "alpha": 0, "beta": 0, "operand": 1e99}])"},
      {"/graph/nodes/0/post_ops", R"([{"op": "Frobnicate", "alpha": 0, "beta": 0, "operand": -1}])"},
      {"/graph/nodes/0/post_ops", R"([{"op": "MatMul", "alpha": 0, "beta": 0, "operand": -1}])"},
      {"/graph/nodes/0/post_ops", R"([{"op": "Shape", "alpha": 0, "beta": 0, "operand": -1}])"},
      {"/graph/values/0/shape", "[1e300]"},
      {"/graph/values/0/shape", "[-1]"},
      {"/graph/values/0/shape", "[4611686018427387904, 4611686018427387904]"},
      {"/graph/values/0/constant", R"({"dtype": 0, "shape": [1], "offset": -64})"},
      {"/graph/values/0/constant", R"({"dtype": 0, "shape": [1], "offset": 18446744073709551615})"},
      {"/stay_wide", "{}"},
      {"/stay_wide", R"("name")"},
      {"/stay_wide_on_tensors", R"({"a": "name"})"},
      {"/stay_wide_on_tensors", "[7]"},
      {"/choices", "7"},
      {"/choices", R"({"node": ["tactic"]})"},
      {"/kernels", R"([{"key": "k", "offset": 0, "bytes": 18446744073709551615}])"},
      {"/kernels", R"([{"key": "k", "offset": 18446744073709551615, "bytes": 1}])"},
      {"/kernels", R"([{"key": "k", "offset": 0, "bytes": -1}])"},
      {"/kernels", R"([{"key": "k", "offset": 0, "bytes": 4}, {"key": "l", "offset": 0, "bytes": 1000000}])"},
      {"/kernels", R"([{"key": 7}])"},
  };
  for (const auto& [place, lie] : lies) {
    with(place, lie);
    try {
      load_plan(path_);
      ADD_FAILURE() << place << " = " << lie;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(path_)) << error.what();
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    }
  }
}

TEST_F(PlanFile, RefusesConstantsThatOverlap) {
  save_plan(path_, small_graph(), {});
  write_lie(bytes(), "/graph/values/1/constant", R"({"dtype": 0, "shape": [18], "offset": 0})");
  EXPECT_NE(load_error().find("its constants overlap"), std::string::npos) << load_error();
}

TEST_F(PlanFile, RefusesBoolsThatAreNone) {
  test::GraphBuilder b;
  const ValueId condition = b.constant(Tensor::of<bool>({2}, {true, false}));
  const ValueId x = b.input("x", {2});
  save_plan(path_, b.build({b.op("Where", {condition, x, b.op("Neg", {x})})}), {});
  EXPECT_EQ(load_error(), "");
  write_last_byte(bytes(), 7);
  EXPECT_NE(load_error().find("a constant of bools holds something else"), std::string::npos) << load_error();
}

TEST_F(PlanFile, RefusesAnOutputThatIsAFrame) {
  Graph graph;
  graph.add_output(graph.add_input("x", {DType::kFloat32, {64, 64}}));
  save_plan(path_, graph, {});
  write_lie(bytes(), "/graph/values/0/dtype", std::to_string(static_cast<int>(DType::kFrame)).c_str());
  EXPECT_NE(load_error().find("the output 'x' is a frame"), std::string::npos) << load_error();
}

TEST_F(PlanFile, RefusesAHeaderThatIsNestedTooDeep) {
  save_plan(path_, small_graph(), {});
  write_lie(bytes(), "/graph/nodes/0/stage", (std::string(1000, '[') + std::string(1000, ']')).c_str());
  EXPECT_NE(load_error().find("nested too deep"), std::string::npos) << load_error();
}

TEST_F(PlanFile, IsVerifiedBeforeAKernelWorksOutAShape) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {6});
  const auto top = b.multi("TopK", {b.floats({4}, {0, 0, 5, 4}), b.ints({2})}, 2);  // 5 and 4 at 2 and 3
  save_plan(path_, b.build({b.op("Reshape", {x, top[1]})}), {});
  EXPECT_EQ(load_error(), "");
  write_lie(bytes(), "/graph/nodes/0/outputs/0", "-1");
  EXPECT_NE(load_error().find("omits its first output"), std::string::npos) << load_error();
}

TEST_F(PlanFile, IsRefusedWhereItDoesNotFitTheMemory) {
  save_plan(path_, small_graph(), {});
  EXPECT_THROW(load_plan(path_, 100), Error);
}

TEST_F(PlanFile, KeepsWhatWasFoundOut) {
  const PlanFacts facts{.backend = "cuda",
                        .device = "a GPU",
                        .kernel_version = "1",
                        .precision = "fp16",
                        .stay_wide = {{"first", "last"}},
                        .fallback = true,
                        .card = "task = \"detect\"",
                        .choices = {{"node", {"tiled", "16x8"}}, {"other", {"plain", ""}}},
                        .kernels = {{"a", std::string("\0code", 5)}, {"b", "more code"}}};
  save_plan(path_, small_graph(), facts);
  const PlanFacts kept = load_plan(path_).facts;
  EXPECT_EQ(kept.backend, facts.backend);
  EXPECT_EQ(kept.device, facts.device);
  EXPECT_EQ(kept.kernel_version, facts.kernel_version);
  EXPECT_EQ(kept.precision, facts.precision);
  EXPECT_EQ(kept.stay_wide, facts.stay_wide);
  EXPECT_EQ(kept.stay_wide_on_tensors, facts.stay_wide_on_tensors) << "not looked for";
  EXPECT_EQ(kept.fallback, facts.fallback);
  EXPECT_EQ(kept.card, facts.card);
  EXPECT_EQ(kept.choices, facts.choices);
  EXPECT_EQ(kept.kernels, facts.kernels);
}

}  // namespace
}  // namespace saccade
