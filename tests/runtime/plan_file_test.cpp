#include "runtime/plan_file.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "graph/verify.hpp"
#include "ops/interpreter/sized.hpp"
#include "runtime/plan.hpp"
#include "runtime/plan_container.hpp"
#include "runtime/small_graph.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using test::fill;
using test::kBackend;
using test::read;
using test::small_graph;

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
  /// Writes the plan file WHOLE with the first byte of its first constant BYTE, and the checksum that belongs to it.
  void write_first_byte(const std::string& whole, char byte) const {
    const PlanLayout layout = plan_layout(whole, whole.size());
    std::string blob(plan_blob(whole, layout));
    blob.front() = byte;
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

TEST_F(PlanFile, GivesTheSameOutputsWhenOpenedAgain) {
  Graph graph = small_graph();
  graph.node(NodeId{1}).post_ops.push_back({.op = "Clip", .alpha = 0, .beta = 3});
  graph.metadata["author"] = "unknown";
  save_plan(path_, graph, {});
  ASSERT_TRUE(is_plan_file(path_));
  const auto opened = Plan::compile(load_plan(path_).graph, kBackend, {});
  EXPECT_EQ(opened->graph().metadata.at("author"), "unknown");
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
  form.capacity = {{DType::kInt64, {1, 2}}};
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
  const std::vector<Tensor> outputs = read_data_outputs(execution);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].shape(), (Shape{1, 1}));
  EXPECT_EQ(outputs[0].data<std::int64_t>()[0], 1);
}

TEST_F(PlanFile, RefusesAnExtentThatNothingCounts) {
  Graph graph = counting_graph();
  for (const Extent& wrong : {Extent{.output = 0, .axis = 2, .count = 1}, Extent{.output = 0, .axis = 1, .count = 2},
                              Extent{.output = 0, .axis = 1, .count = 0}, Extent{.output = 9, .axis = 1, .count = 1}}) {
    graph.set_extents({wrong});
    EXPECT_THROW(verify(graph), Error) << wrong.output << ' ' << wrong.axis << ' ' << wrong.count;
  }
}

TEST_F(PlanFile, AnExtentIsCountedByOneInteger) {
  const auto counted_by = [](const TensorType& count) {
    Graph graph;
    const ValueId x = graph.add_input("x", {DType::kFloat32, {2}});
    graph.set_outputs({x, graph.add_input("count", count)});
    graph.set_extents({{.output = 0, .axis = 0, .count = 1}});
    return graph;
  };
  EXPECT_NO_THROW(verify(counted_by({DType::kInt64, {}})));
  EXPECT_NO_THROW(verify(counted_by({DType::kInt32, {1}})));
  for (const TensorType& wrong :
       {TensorType{DType::kInt32, {}}, {DType::kInt32, {2}}, {DType::kInt64, {1}}, {DType::kFloat32, {1}}})
    EXPECT_THROW(verify(counted_by(wrong)), Error) << to_string(wrong.dtype) << ' ' << wrong.shape.to_string();
}

TEST_F(PlanFile, RefusesExtentsOfNoIntegers) {
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
            {.backend = Device::Kind::kCuda,
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
  old[8] = 5;
  write(old);
  EXPECT_EQ(load_error(), path_ + ": it is a plan of version 5, this saccade reads 9: compile it again");
}

TEST_F(PlanFile, RefusesInconsistentHeaders) {
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
  write_lie(bytes(), "/graph/values/1/constant", R"({"dtype": 0, "shape": [47], "offset": 0})");
  EXPECT_NE(load_error().find("a constant overlaps another"), std::string::npos) << load_error();
}

TEST_F(PlanFile, RefusesBoolsThatAreNone) {
  test::GraphBuilder b;
  const ValueId condition = b.constant(Tensor::of<bool>({2}, {true, false}));
  const ValueId x = b.input("x", {2});
  save_plan(path_, b.build({b.op("Where", {condition, x, b.op("Neg", {x})})}), {});
  EXPECT_EQ(load_error(), "");
  write_first_byte(bytes(), 7);
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
  const PlanFacts facts{.backend = Device::Kind::kCuda,
                        .device = "a GPU",
                        .kernel_version = "1",
                        .precision = Precision::kFp16,
                        .keep_fp32 = {{"first", "last"}},
                        .keep_for_accuracy = {"head"},
                        .fallback = true,
                        .card = "task = \"detect\"",
                        .choices = {{"node", {"tiled", "16x8"}}, {"other", {"plain", ""}}},
                        .kernels = {{"a", std::string("\0code", 5)}, {"b", "more code"}},
                        .packed = {{"key", Tensor::of<float>({3}, {1, 2, 3})}}};
  save_plan(path_, small_graph(), facts);
  const PlanFacts kept = load_plan(path_).facts;
  EXPECT_EQ(kept.backend, facts.backend);
  EXPECT_EQ(kept.device, facts.device);
  EXPECT_EQ(kept.kernel_version, facts.kernel_version);
  EXPECT_EQ(kept.precision, facts.precision);
  EXPECT_EQ(kept.keep_fp32, facts.keep_fp32);
  EXPECT_EQ(kept.keep_fp32_on_tensors, facts.keep_fp32_on_tensors) << "not computed";
  EXPECT_EQ(kept.keep_for_accuracy, facts.keep_for_accuracy);
  EXPECT_EQ(kept.fallback, facts.fallback);
  EXPECT_EQ(kept.card, facts.card);
  EXPECT_EQ(kept.choices, facts.choices);
  EXPECT_EQ(kept.kernels, facts.kernels);
  ASSERT_EQ(kept.packed.size(), 1U);
  EXPECT_EQ(kept.packed.begin()->first, "key");
  EXPECT_THAT(kept.packed.begin()->second.data<float>(), testing::ElementsAre(1, 2, 3));
}

/// Their pages are read when they are touched, and shared with other processes.
TEST_F(PlanFile, HasLargeConstantsInTheFile) {
  constexpr std::int64_t kLarge = 100'000;
  test::GraphBuilder b;
  const ValueId x = b.input("x", {kLarge});
  save_plan(path_, b.build({b.op("Add", {b.op("Mul", {x, b.random({kLarge})}), b.scalar(2)})}),
            {.packed = {{"key", test::random_tensor({kLarge}, 7)}}});
  PlanContents contents = load_plan(path_);
  const auto is_in_file = [&](const Tensor& tensor) {
    const char* start = reinterpret_cast<const char*>(tensor.raw());
    const std::string_view file = contents.file->bytes();
    return start >= file.data() && start + tensor.bytes() + 64 <= file.data() + file.size();
  };
  int large = 0;
  for (std::size_t i = 0; i < contents.graph.value_count(); ++i)
    if (const Tensor* constant = contents.graph.constant(static_cast<ValueId>(i))) {
      EXPECT_EQ(is_in_file(*constant), constant->elements() == kLarge);
      large += constant->elements() == kLarge ? 1 : 0;
    }
  EXPECT_EQ(large, 1);
  const Tensor packed = contents.facts.packed.at("key");
  EXPECT_TRUE(is_in_file(packed));
  // They outlive the plan and the file's name.
  contents.file->release_pages();
  contents = {};
  std::filesystem::remove(path_);
  EXPECT_EQ(std::memcmp(packed.raw(), test::random_tensor({kLarge}, 7).raw(), packed.bytes()), 0);
}

TEST_F(PlanFile, RefusesPackedWeightsThatAreNone) {
  save_plan(path_, small_graph(), {.packed = {{"key", Tensor::of<float>({3}, {1, 2, 3})}}});
  const std::string whole = bytes();
  for (const char* lie : {"7", R"({"key": 7})", R"({"key": {"dtype": 0, "shape": [3], "offset": -1}})",
                          R"({"key": {"dtype": 0, "shape": [1000000], "offset": 0}})",
                          R"({"key": {"dtype": 0, "shape": [-3], "offset": 0}})"}) {
    write_lie(whole, "/packed", lie);
    EXPECT_NE(load_error(), "") << lie;
  }
}

}  // namespace
}  // namespace saccade
