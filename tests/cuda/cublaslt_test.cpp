#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>

#include "base/error.hpp"
#include "emulator_calls.hpp"
#include "op_case/network.hpp"
#include "ops/core/tf32.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/tuning/candidate_check.hpp"
#include "support/graph_builder.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr const char* kTactic = "cublaslt.matmul";
/// What the emulated library offers and does not.
constexpr const char* kHidden =
    "algorithm 5 tile 15 stages 25 splits 1 reduction 0 swizzle 0 option 0 inner 0 cluster 2";

Tolerance product_tolerance(DType dtype) {
  if (dtype == DType::kFloat16) return {1e-2, 4e-3};
  return dtype == DType::kBFloat16 ? Tolerance{8e-2, 2e-2} : Tolerance{1e-4, 1e-5};
}

constexpr DType kProductTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

class CublasLt : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = nullptr;
    for (const char* file : {"libcublasLt.so.13", "libcublasLt.so.12"})
      if (library == nullptr) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) GTEST_SKIP() << "needs cuBLASLt 12 or 13";
    kernels_ = reinterpret_cast<const char* (*)()>(dlsym(library, "emulator_kernels"));
    fail_ = reinterpret_cast<void (*)(const char*, int, int)>(dlsym(library, "emulator_fail"));
    const bool emulated = cuda_backend({}).device_name().find("Emulated") != std::string::npos;
    if (emulated && kernels_ == nullptr) GTEST_SKIP() << "needs a GPU, or the emulated cuBLASLt";
  }

  void TearDown() override { EXPECT_LE(8 * refused_, attempts_) << "cuBLASLt has no algorithm for them"; }

  bool is_emulated() const { return kernels_ != nullptr; }
  /// The next call of the emulated library's FUNCTION returns RESULT.
  void fail(const char* function, int result) const { fail_(function, 0, result); }
  /// RUN, for which a real library may sometimes have no algorithm.
  template <typename Run>
  void attempt(const Run& run) {
    ++attempts_;
    try {
      run();
    } catch (const Error& error) {
      const bool lacks = std::string_view(error.what()).find("has no algorithm") != std::string_view::npos;
      if (is_emulated() || !lacks) throw;
      ++refused_;
    }
  }
  void check(const OpCase& made, DType dtype, Layout layout = Layout::kRowMajor) {
    attempt([&] { made.check(on_cuda(kTactic), product_tolerance(dtype), layout); });
  }
  /// The last GEMM of the emulated library.
  std::string last_algorithm() const {
    std::istringstream lines(kernels_());
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    return last;
  }

  std::int64_t length(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random_); }
  bool toss() { return length(2) == 1; }
  Tensor constant(DType dtype, const Shape& shape) {
    return random_elements(dtype, shape, -1, 1, static_cast<std::uint32_t>(random_()));
  }
  /// No post-ops, those of the library's epilogue, or those of the epilogue kernel.
  void add_post_ops(OpCase& made) {
    switch (length(6)) {
      case 1: made.post("Relu"); break;
      case 2: made.post_with_operand("Add"); break;
      case 3: made.post_with_operand("Add").post("Relu"); break;
      case 4: made.post("Silu"); break;
      case 5: made.post("Gelu"); break;
      default: break;
    }
  }

  std::mt19937 random_{7};

 private:
  const char* (*kernels_)() = nullptr;
  void (*fail_)(const char*, int, int) = nullptr;
  int attempts_ = 0;
  int refused_ = 0;
};

TEST_F(CublasLt, MultipliesByConstants) {
  for (const DType dtype : kProductTypes)
    for (int i = 0; i < 30; ++i) {
      const bool is_gemm = toss();
      const std::int64_t k = length(40);
      const std::int64_t n = length(40);
      OpCase made(is_gemm ? "Gemm" : "MatMul");
      const bool turned = is_gemm && toss();
      Shape left{length(20), k};
      if (!is_gemm && toss()) left = {length(3), length(3), length(9), k};
      made.input(dtype, left, -1, 1).constant(constant(dtype, turned ? Shape{n, k} : Shape{k, n}));
      made.constant(toss() ? constant(dtype, {n}) : Tensor());
      if (is_gemm) made.attribute("transB", std::int64_t{turned});
      if (is_gemm && toss()) made.attribute("alpha", 0.5F).attribute("beta", -2.0F);
      add_post_ops(made);
      check(made, dtype);
    }
}

TEST_F(CublasLt, MultipliesActivations) {
  for (const DType dtype : kProductTypes)
    for (int i = 0; i < 30; ++i) {
      const std::int64_t m = length(12);
      const std::int64_t k = length(24);
      const std::int64_t n = length(12);
      const bool is_gemm = toss();
      OpCase made(is_gemm ? "Gemm" : "MatMul");
      if (is_gemm) {
        const bool turned = toss();
        made.input(dtype, {m, k}, -1, 1).input(dtype, turned ? Shape{n, k} : Shape{k, n}, -1, 1);
        made.input(toss() ? constant(dtype, {n}) : Tensor());
        made.attribute("transB", std::int64_t{turned});
      } else {
        const Shape batches[][2] = {{{3, 2, m, k}, {3, 2, k, n}},
                                    {{1, 1, m, k}, {3, 2, k, n}},
                                    {{5, m, k}, {1, k, n}},
                                    {{5, m, k}, {k, n}},
                                    {{m, k}, {4, k, n}}};
        const auto& [left, right] = batches[static_cast<std::size_t>(length(5) - 1)];
        made.input(dtype, left, -1, 1).input(dtype, right, -1, 1).absent();
      }
      add_post_ops(made);
      check(made, dtype);
    }
}

TEST_F(CublasLt, MultipliesByConstantsOfBatches) {
  OpCase right("MatMul");
  right.input(DType::kFloat32, {3, 5, 7}, -1, 1).constant(constant(DType::kFloat32, {3, 7, 4}));
  check(right, DType::kFloat32);
  OpCase left("MatMul");
  left.constant(constant(DType::kFloat16, {6, 8})).input(DType::kFloat16, {2, 8, 16}, -1, 1);
  check(left, DType::kFloat16);
}

TEST_F(CublasLt, ConvolvesPixels) {
  for (const DType dtype : kProductTypes)
    for (int i = 0; i < 20; ++i) {
      const std::int64_t channels = length(40);
      const std::int64_t filters = length(40);
      OpCase made("Conv");
      made.input(dtype, {length(2), channels, length(6), length(6)}, -1, 1);
      made.constant(constant(dtype, {filters, channels, 1, 1}));
      made.constant(toss() ? constant(dtype, {filters}) : Tensor());
      add_post_ops(made);
      check(made, dtype, Layout::kChannelsLast);
    }
}

/// A graph of one GEMM, to query its tactic.
class Question {
 public:
  explicit Question(Graph graph) : graph_(std::move(graph)) {}
  const Tactic& tactic() const {
    return **std::ranges::find(cuda_backend({}).tactics(), std::string_view(kTactic), &Tactic::name);
  }
  NodeContext context(std::string_view configuration = {}) const {
    return {.graph = graph_, .node = graph_.node(graph_.order().front()), .configuration = configuration};
  }
  std::string reason() const { return tactic().supports(context()).reason; }
  std::string detail(std::string_view configuration) const {
    return tactic().compile(context(configuration))->detail();
  }
  std::string rejection(const std::string& configuration) const {
    CandidateCheck check(graph_, graph_.node(graph_.order().front()), cuda_backend({}), {"direct.matmul", ""});
    return check.rejection({kTactic, configuration}, 1);
  }

 private:
  Graph graph_;
};

Question product(DType dtype, std::int64_t k = 64, bool tf32 = false) {
  test::GraphBuilder b;
  const ValueId weights = b.constant(random_elements(dtype, {k, 64}, -1, 1, 3));
  Graph graph = b.build({b.op("MatMul", {b.input("x", {64, k}, dtype), weights})});
  if (tf32) graph.node(graph.order().front()).attributes.set(kTf32Attribute, std::int64_t{1});
  return Question(std::move(graph));
}

TEST_F(CublasLt, OffersAlgorithmsWithEqualOutputs) {
  for (const DType dtype : kProductTypes) {
    const Question question = product(dtype);
    ASSERT_EQ(question.reason(), "");
    const std::vector<std::string> names = question.tactic().configurations(question.context(), 16);
    ASSERT_FALSE(names.empty());
    EXPECT_EQ(question.tactic().configurations(question.context(), 1).size(), 1U);
    for (const std::string& name : names) {
      EXPECT_EQ(question.rejection(name), "") << name;
      EXPECT_EQ(question.detail(name), name);
    }
    for (const char* unknown : {"", "nonsense", "algorithm 9999 tile 1 stages 1 splits 1 reduction 0"})
      EXPECT_EQ(question.detail(unknown), names.front()) << unknown;
  }
}

TEST_F(CublasLt, AddsUpInFloat32) {
  const Question question = product(DType::kFloat16);
  for (const std::string& name : question.tactic().configurations(question.context(), 16)) {
    EXPECT_EQ(name.find("reduction 1"), std::string::npos) << name;
    EXPECT_EQ(name.find("reduction 4"), std::string::npos) << name;
  }
}

TEST_F(CublasLt, RoundsToTf32WhereItMayAlone) {
  if (!is_emulated()) GTEST_SKIP() << "needs the emulated cuBLASLt";
  EXPECT_EQ(product(DType::kFloat32).rejection(""), "");
  EXPECT_EQ(last_algorithm(), "algorithm 4");
  EXPECT_EQ(product(DType::kFloat32, 64, true).rejection(""), "");
  EXPECT_EQ(last_algorithm(), "algorithm 4 tf32");
  EXPECT_EQ(product(DType::kFloat16, 64, true).rejection(""), "");
  EXPECT_EQ(last_algorithm(), "algorithm 4");
}

TEST_F(CublasLt, TakesTheAlgorithmThatAPlanNames) {
  if (!is_emulated()) GTEST_SKIP() << "needs the emulated cuBLASLt";
  const Question question = product(DType::kFloat16);
  const std::string split = "algorithm 2 tile 12 stages 22 splits 2 reduction 2 swizzle 0 option 0 inner 0 cluster 2";
  EXPECT_EQ(question.rejection(split), "");
  EXPECT_EQ(last_algorithm(), "algorithm 2");
  EXPECT_GT(question.tactic().compile(question.context(split))->scratch_bytes(), 0U);
  EXPECT_EQ(question.detail(kHidden), kHidden);
  EXPECT_EQ(question.rejection(kHidden), "");
  EXPECT_EQ(last_algorithm(), "algorithm 5");
  const std::string refused = "algorithm 5 tile 99 stages 25 splits 1 reduction 0 swizzle 0 option 0 inner 0 cluster 2";
  EXPECT_EQ(question.detail(refused), question.detail(""));
}

TEST_F(CublasLt, PassesOverAlgorithmsThatNeedWiderRows) {
  if (!is_emulated()) GTEST_SKIP() << "needs the emulated cuBLASLt";
  EXPECT_EQ(product(DType::kFloat16, 63).rejection(""), "");
  EXPECT_EQ(last_algorithm(), "algorithm 2");
}

TEST_F(CublasLt, IsPassedOverWhereItDoesNotStart) {
  if (!is_emulated()) GTEST_SKIP() << "needs the emulated cuBLASLt";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own: handles are cached
  EXPECT_EXIT(
      {
        fail("cublasLtCreate", 1);
        std::fputs(product(DType::kFloat32).reason().c_str(), stderr);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "cuBLASLt can't use the device");
}

TEST_F(CublasLt, IsCapturedAtItsFirstUse) {
  const test::EmulatorCalls calls;
  if (!is_emulated() || !calls) GTEST_SKIP() << "needs the emulated cuBLASLt";
  const Question question = product(DType::kFloat32);
  calls.forget();
  EXPECT_EQ(question.rejection(kHidden), "");
  const std::vector<std::string> since = calls.since();
  EXPECT_NE(std::ranges::find(since, "cuGraphLaunch"), since.end());
}

TEST_F(CublasLt, ContinuesFromOverflowedAccumulators) {
  for (const char* post : {"Silu", "Gelu", "HardSwish", "Sigmoid"}) {
    test::GraphBuilder b;
    const Tensor weights = random_elements(DType::kFloat16, {16, 24}, 100, 101, 5);
    Graph graph = b.build({b.op("MatMul", {b.input("x", {9, 16}, DType::kFloat16), b.constant(weights)})});
    graph.node(graph.order().front()).post_ops.push_back({.op = post});
    CompileOptions options;
    options.tactics = {kTactic};
    attempt([&] {
      Execution execution(Plan::compile(graph, cuda_backend({}), options));
      const Tensor x = random_elements(DType::kFloat16, {9, 16}, -101, -100, 6);
      std::memcpy(execution.input(0).data, x.raw(), x.bytes());
      execution.run();
      for (const Float16 y : execution.output(0).as<Float16>()) ASSERT_EQ(static_cast<float>(y), 0) << post;
    });
  }
}

TEST_F(CublasLt, RefusesPostOpsThatNeedAccumulators) {
  const auto reason = [](DType dtype, PostOp post) {
    test::GraphBuilder b;
    const ValueId product =
        b.op("MatMul", {b.input("x", {8, 8}, dtype), b.constant(random_elements(dtype, {8, 8}, -1, 1, 3))});
    Graph graph = b.build({product});
    Node& node = graph.node(graph.value(product).producer);
    if (post.operand >= 0) {
      node.inputs.resize(4, ValueId::kNone);
      node.inputs[static_cast<std::size_t>(post.operand)] = graph.inputs()[0];
    }
    node.post_ops = {post, {.op = "Silu"}};
    return Question(std::move(graph)).reason();
  };
  const std::string lost = "needs the accumulators, which float16 may not hold";
  EXPECT_EQ(reason(DType::kFloat16, {.op = "LeakyRelu", .alpha = 0.1F}), "its LeakyRelu " + lost);
  EXPECT_EQ(reason(DType::kFloat16, {.op = "Add", .operand = 3}), "its Add " + lost);
  EXPECT_EQ(reason(DType::kFloat16, {.op = "Silu"}), "");
  EXPECT_EQ(reason(DType::kFloat32, {.op = "Add", .operand = 3}), "");
  EXPECT_EQ(reason(DType::kBFloat16, {.op = "LeakyRelu", .alpha = 0.1F}), "");
}

TEST_F(CublasLt, SaysWhatFailed) {
  if (!is_emulated()) GTEST_SKIP() << "needs the emulated cuBLASLt";
  const Question question = product(DType::kFloat32);
  const std::string name = question.tactic().configurations(question.context(), 1).front();
  fail("cublasLtMatmulAlgoGetHeuristic", 15);
  EXPECT_EQ(question.reason(), "cuBLASLt has no algorithm for it");
  fail("cublasLtMatmulAlgoGetHeuristic", 7);
  EXPECT_NE(question.reason().find("cublasLtMatmulAlgoGetHeuristic"), std::string::npos) << question.reason();
  fail("cublasLtMatmulDescCreate", 3);
  EXPECT_THROW(question.detail(name), Error);
}

TEST_F(CublasLt, SaysWhatItDoesNotTake) {
  const auto conv = [](std::int64_t channels, std::int64_t kernel, std::int64_t stride, const Numbers& pads) {
    test::GraphBuilder b;
    Graph graph = b.build({b.op("Conv", {b.input("x", {1, 8, 4, 4}), b.random({4, channels, kernel, kernel})},
                                {{"strides", Numbers{stride, stride}}, {"pads", pads}, {"group", 8 / channels}})});
    for (ValueId id : {graph.inputs()[0], graph.outputs()[0]}) graph.value(id).layout = Layout::kChannelsLast;
    return Question(std::move(graph)).reason();
  };
  EXPECT_EQ(conv(8, 1, 1, {0, 0, 0, 0}), "");
  EXPECT_EQ(conv(4, 1, 1, {0, 0, 0, 0}), "it is not a 1x1 convolution with stride 1");
  EXPECT_EQ(conv(8, 3, 1, {0, 0, 2, 2}), "it is not a 1x1 convolution with stride 1");
  EXPECT_EQ(conv(8, 1, 2, {0, 0, 3, 3}), "it is not a 1x1 convolution with stride 1");  // as many pixels as before
  EXPECT_EQ(conv(8, 1, 1, {0, 0, 1, 1}), "it is not a 1x1 convolution with stride 1");
  EXPECT_EQ(conv(8, 3, 1, {1, 1, 1, 1}), "it is not a 1x1 convolution with stride 1");
  test::GraphBuilder b;
  EXPECT_EQ(Question(b.build({b.op("MatMul", {b.input("x", {2, 1, 4, 4}), b.input("y", {3, 4, 4})})})).reason(),
            "its batches broadcast in two nested loops");
  test::GraphBuilder c;
  const ValueId turned = c.op("Gemm", {c.input("x", {4, 5}), c.random({4, 3})}, {{"transA", std::int64_t{1}}});
  EXPECT_EQ(Question(c.build({turned})).reason(), "its left operand is transposed");
}

TEST_F(CublasLt, IsNotTakenUntuned) {
  test::GraphBuilder b;
  const auto plan = expect_as_reference(b.build({b.op("MatMul", {b.input("x", {5, 6}), b.random({6, 7})})}));
  EXPECT_EQ(plan->steps().front().tactic->name(), "tiled.matmul");
}

/// A pointwise convolution of eight of sixteen channels, from FROM on, that adds the first eight; then it and another
/// convolution of it, followed by POST, concatenated. All may share two buffers.
Graph joined_products(DType dtype, std::int64_t from, std::vector<PostOp> post) {
  test::GraphBuilder b;
  const auto conv = [&](std::vector<ValueId> inputs, std::uint32_t seed, std::vector<PostOp> post_ops) {
    inputs.insert(inputs.begin() + 1, {b.constant(random_elements(dtype, {8, 8, 1, 1}, -1, 1, seed)),
                                       b.constant(random_elements(dtype, {8}, -1, 1, seed + 1))});
    const ValueId made = b.op("Conv", inputs);
    b.graph().node(b.graph().value(made).producer).post_ops = std::move(post_ops);
    return made;
  };
  const ValueId x = b.op("Relu", {b.input("x", {2, 16, 3, 4}, dtype)});
  const auto slice = [&](std::int64_t first) {
    return b.op("Slice", {x, b.ints({first}), b.ints({first + 8}), b.ints({1})});
  };
  const ValueId lower = slice(0);
  const ValueId product = conv({slice(from), lower}, 5, {{"Add", 0, 0, 3}});
  const ValueId joined = b.op("Concat", {product, conv({product}, 9, std::move(post))}, {{"axis", std::int64_t{1}}});
  return with_images_channels_last(b.build({b.op("Abs", {joined})}));
}

/// Number of launches of GRAPH if its convolutions and GEMMs use the tactic.
std::size_t launches(const Graph& graph, DType dtype) {
  CompileOptions options;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    options.tactics.emplace_back(node.is("Conv") || node.is("MatMul") ? kTactic : "");
  }
  const auto plan = expect_as_reference(graph, {dtype == DType::kBFloat16 ? 3e-1 : 4e-2, 2e-2}, options);
  return static_cast<std::size_t>(
      std::ranges::count_if(plan->steps(), [](const Step& step) { return step.launch != nullptr; }));
}

TEST_F(CublasLt, ReadsAndWritesByPitches) {
  for (const DType dtype : kProductTypes)
    for (const std::int64_t from : {8, 5})
      attempt([&] { EXPECT_EQ(launches(joined_products(dtype, from, {}), dtype), 4U); });  // Relu, the two, Abs
}

TEST_F(CublasLt, WritesDenseWhereAKernelFollows) {
  for (const DType dtype : kProductTypes) EXPECT_GT(launches(joined_products(dtype, 8, {{"Silu"}}), dtype), 4U);
}

TEST_F(CublasLt, TakesNoPartsOfRows) {
  test::GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {5, 16})});
  const ValueId part = b.op("Slice", {x, b.ints({8}), b.ints({16}), b.ints({1})});
  const ValueId product = b.op("MatMul", {part, b.random({8, 8})});
  EXPECT_EQ(launches(b.build({b.op("Abs", {product})}), DType::kFloat32), 4U);  // one of them copies
}

}  // namespace
}  // namespace saccade
