#include "op_case/built_case.hpp"
#include "op_case/network.hpp"

// Slices and concatenations in place on the CPU, with kernels that read and write strided operands.
namespace saccade {
namespace {

constexpr Tolerance kLoose{1e-4, 1e-4};
constexpr Tolerance kPlacedHalves{5e-2, 5e-2};

/// TACTIC for the convolutions that it supports.
CompileOptions with_convolutions(const Graph& graph, std::string_view tactic) {
  CompileOptions options;
  for (NodeId id : graph.order()) {
    const bool takes =
        graph.node(id).is("Conv") && find_tactic(on_cpu(tactic)).supports({graph, graph.node(id), 2}).yes;
    options.tactics.emplace_back(takes ? tactic : std::string_view());
  }
  return options;
}

std::string launches_with(const Graph& graph, std::string_view tactic, Tolerance tolerance) {
  const Backend& backend = backend_of(TestedBackend::kCpu);
  return launches(*expect_as_reference(backend, graph, tolerance, with_convolutions(graph, tactic)));
}

std::string launches_of_halves(const Graph& graph) { return launches_with(graph, "bf16.convolution", kPlacedHalves); }

TEST(CpuPlacement, RunsSplitAndJoinedConvolutionsWithoutACopy) {
  for (const std::int64_t half : {4, 8, 13, 40}) {
    SCOPED_TRACE(half);
    const Graph graph = c2f(DType::kFloat32, half);
    EXPECT_EQ(launches_with(graph, "vector.convolution", kLoose), "Relu Conv Conv Conv Conv Abs");
    EXPECT_EQ(launches_of_halves(c2f(DType::kBFloat16, half)), "Relu Conv Conv Conv Conv Abs");
  }
}

TEST(CpuPlacement, LetsWinogradBeStrided) {
  Network n(DType::kFloat32, 9, 10, 2);
  const ValueId x = n.conv(n.input(8), 24, 3);
  const ValueId lower = n.slice(x, 0, 8);
  const ValueId upper = n.slice(x, 8, 24);
  const ValueId deeper = n.conv(upper, 8, 3, 1, lower);
  const Graph graph = n.build({n.conv(n.concat({lower, upper, deeper}), 8, 3)});
  EXPECT_EQ(launches_with(graph, "vector.winograd", {1e-3, 1e-3}), "Relu Conv Conv Conv Abs");
}

/// Three channels of a pixel of four: the fourth is written later, and NaN when the second convolution reads.
TEST(CpuPlacement, ReadsNoOtherPart) {
  Network n(DType::kBFloat16, 9, 11);
  const ValueId first = n.conv(n.input(8), 3, 1);
  const ValueId second = n.conv(first, 1, 3);
  EXPECT_EQ(launches_of_halves(n.build({n.conv(n.concat({first, second}), 8, 1)})), "Relu Conv Conv Conv Abs");
}

/// oneDNN's primitives want dense tensors: only what a copy reads is in place.
TEST(CpuPlacement, CopiesForOneDnn) {
  EXPECT_EQ(launches_with(c2f(DType::kFloat32, 8), "onednn.convolution", kLoose),
            "Relu Conv Slice Conv Conv Concat Conv Abs");
}

TEST(CpuPlacement, JoinsWhatBranchesMake) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const bool is_half = dtype == DType::kBFloat16;
    Network n(dtype, 5, 6, 2);
    const ValueId x = n.input(8);
    Values branches{n.conv(x, 8, 1), n.conv(x, 16, 3), n.max_pool(x)};
    if (is_half) branches.push_back(n.conv(x, 8, 3, 8));
    const Graph graph = n.build({n.conv(n.concat(branches), 8, 1)});
    if (is_half)
      EXPECT_EQ(launches_of_halves(graph), "Relu Conv Conv MaxPool Conv Conv Abs");
    else
      EXPECT_EQ(launches_with(graph, "vector.convolution", kLoose), "Relu Conv Conv MaxPool Conv Abs");
  }
}

TEST(CpuPlacement, GrowsWhatEveryLayerReads) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    Network n(dtype);
    Values features{n.conv(n.input(8), 8, 1)};
    for (int i = 0; i < 3; ++i) features.push_back(n.conv(i == 0 ? features[0] : n.concat(features), 4, 3));
    const Graph graph = n.build({n.concat(features)});
    if (dtype == DType::kBFloat16)
      EXPECT_EQ(launches_of_halves(graph), "Relu Conv Conv Conv Conv Abs");
    else
      EXPECT_EQ(launches_with(graph, "vector.convolution", kLoose), "Relu Conv Conv Conv Conv Abs");
  }
}

/// YOLO's SPPF: pools of pools, all of which are parts of one tensor.
TEST(CpuPlacement, PoolsWithinAConcat) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    Network n(dtype, 7, 6);
    Values parts{n.conv(n.input(8), 12, 1)};
    for (int i = 0; i < 3; ++i) parts.push_back(n.max_pool(parts.back()));
    const Graph graph = n.build({n.conv(n.concat(parts), 8, 1)});
    const std::string_view tactic = dtype == DType::kBFloat16 ? "bf16.convolution" : "vector.convolution";
    EXPECT_EQ(launches_with(graph, tactic, dtype == DType::kBFloat16 ? kPlacedHalves : kLoose),
              "Relu Conv MaxPool MaxPool MaxPool Conv Abs");
  }
}

TEST(CpuPlacement, JoinsWhatIsEnlarged) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    Network n(dtype);
    const ValueId x = n.input(8);
    const ValueId scales = n.builder().floats({4}, {1, 1, 2, 2});
    const ValueId nearest = n.op("Resize", {x, ValueId::kNone, scales}, 8);
    const ValueId linear = n.op("Resize", {x, ValueId::kNone, scales}, 8, {{"mode", std::string("linear")}});
    EXPECT_EQ(launches_with(n.build({n.concat({nearest, linear})}), "", kPlacedHalves), "Relu Resize Resize Abs");
  }
}

TEST(CpuPlacement, CopiesIntoAConcatWhatCannotBeThere) {
  Network n;
  const ValueId x = n.input(8);
  const ValueId y = n.conv(x, 8, 1);
  const ValueId one = n.concat({x, y});
  const ValueId two = n.concat({n.op("Neg", {y}, 8), x, x});
  EXPECT_EQ(launches_with(n.build({one, two}), "vector.convolution", kLoose), "Relu Conv Concat Neg Concat Abs Abs");
}

TEST(CpuPlacement, AgreesOnRandomNetworks) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    launches_with(random_network(seed), "vector.convolution", kLoose);
    launches_of_halves(random_network(seed, DType::kBFloat16));
  }
}

}  // namespace
}  // namespace saccade
