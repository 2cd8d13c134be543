#include "op_case/network.hpp"

// Slices and concatenations in place, with kernels that read and write strided operands.
namespace saccade {
namespace {

using test::GraphBuilder;

constexpr Tolerance kLoose{1e-4, 1e-4};
constexpr Tolerance kPlacedHalves{2e-2, 2e-2};
// Sums over 64 and then 192 channels reach 100, where float16 has a spacing of 1/16.
constexpr Tolerance kWideHalves{2e-1, 2e-2};

TEST(CudaPlacement, RunsSplitAndJoinedConvolutionsWithoutACopy) {
  EXPECT_EQ(launches(*expect_as_reference(c2f(DType::kFloat32, 8), kLoose)), "Relu Conv Conv Conv Conv Abs");
  EXPECT_EQ(launches(*expect_as_reference(c2f(DType::kFloat16, 16), kPlacedHalves)), "Relu Conv Conv Conv Conv Abs");
}

TEST(CudaPlacement, LetsWarpgroupGemmsBeStrided) {
  Network n(DType::kFloat16, 8, 9);
  const ValueId x = n.conv(n.input(64), 128, 1);
  const ValueId lower = n.slice(x, 0, 64);
  const ValueId upper = n.slice(x, 64, 128);
  const ValueId product = n.conv(upper, 64, 1, 1, lower);
  const auto plan = expect_as_reference(n.build({n.conv(n.concat({lower, upper, product}), 64, 1)}), kWideHalves);
  EXPECT_EQ(launches(*plan), "Relu Conv Conv Conv Abs");
  for (const Step& step : plan->steps())
    if (plan->graph().node(step.node).is("Conv")) {
      EXPECT_EQ(step.tactic->name(), "warpgroup.product");
    }
}

TEST(CudaPlacement, CopiesUnalignedHalfPrecision) {
  // A convolution of 24 filters cannot write 36 channels per pixel in vectors of 8, nor one of 10 filters 15 channels
  // in pairs; a kernel behind them can.
  EXPECT_EQ(launches(*expect_as_reference(c2f(DType::kFloat16, 12), kPlacedHalves)),
            "Relu Conv Conv Conv Concat Conv Abs");
  EXPECT_EQ(launches(*expect_as_reference(c2f(DType::kFloat32, 5), kLoose)), "Relu Conv Conv Conv Concat Conv Abs");
}

TEST(CudaPlacement, JoinsWhatBranchesMake) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    Network n(dtype, 5, 6, 2);
    const ValueId x = n.input(8);
    const ValueId joined =
        n.concat({n.conv(x, 8, 1), n.conv(x, 16, 3), n.max_pool(x), n.conv(x, 8, 3, 8), n.op("Neg", {x}, 8)});
    const auto plan =
        expect_as_reference(n.build({n.conv(joined, 8, 1)}), dtype == DType::kFloat32 ? kLoose : kPlacedHalves);
    EXPECT_EQ(launches(*plan), "Relu Conv Conv MaxPool Conv Neg Conv Abs");
  }
}

TEST(CudaPlacement, GrowsWhatEveryLayerReads) {
  Network n;
  Values features{n.input(8)};
  for (int i = 0; i < 3; ++i) features.push_back(n.conv(i == 0 ? features[0] : n.concat(features), 4, 3));
  const auto plan = expect_as_reference(n.build({n.concat(features)}), kLoose);
  EXPECT_EQ(launches(*plan), "Relu Conv Conv Conv Abs");
}

TEST(CudaPlacement, JoinsWhatIsEnlarged) {
  Network n;
  const ValueId x = n.input(8);
  const ValueId scales = n.builder().floats({4}, {1, 1, 2, 2});
  const ValueId nearest = n.op("Resize", {x, ValueId::kNone, scales}, 8);
  const ValueId linear = n.op("Resize", {x, ValueId::kNone, scales}, 8, {{"mode", std::string("linear")}});
  const ValueId weights = n.builder().random({8, 16, 2, 2});
  const ValueId transposed = n.op("ConvTranspose", {x, weights}, 16, {{"strides", std::vector<std::int64_t>{2, 2}}});
  const auto plan = expect_as_reference(n.build({n.concat({nearest, linear, transposed})}), kLoose);
  EXPECT_EQ(launches(*plan), "Relu Resize Resize ConvTranspose Abs");
}

TEST(CudaPlacement, CopiesIntoAConcatWhatCannotBeThere) {
  Network n;
  const ValueId x = n.input(8);
  const ValueId y = n.conv(x, 8, 1);
  const ValueId one = n.concat({x, y});
  const ValueId two = n.concat({n.op("Neg", {y}, 8), x, x});
  const auto plan = expect_as_reference(n.build({one, two}), kLoose);
  EXPECT_EQ(launches(*plan), "Relu Conv Neg Concat Abs Abs");
}

TEST(CudaPlacement, SeesViewsOfViews) {
  Network n(DType::kFloat32, 4, 6);
  const ValueId x = n.conv(n.input(8), 16, 1);
  const ValueId middle = n.slice(x, 4, 12);
  const ValueId inner = n.slice(middle, 4, 8);
  const ValueId rows = n.op("Reshape", {inner, n.builder().ints({1, 4, 24})}, 4);
  const Values parts = n.builder().multi("Split", {rows}, 2, {{"axis", std::int64_t{2}}});
  const ValueId every = n.op(
      "Slice", {x, n.builder().ints({0}), n.builder().ints({6}), n.builder().ints({3}), n.builder().ints({2})}, 16);
  const auto plan = expect_as_reference(n.build({rows, parts[0], parts[1], every, n.op("Neg", {inner}, 4)}), kLoose);
  EXPECT_EQ(launches(*plan), "Relu Conv Neg Abs Abs Abs Abs Abs");
}

TEST(CudaPlacement, ReadsInAnotherOrder) {
  // A detector head's distances: channels-last boxes, row-major, sliced, transposed, softmax.
  Network n(DType::kFloat32, 3, 4);
  const ValueId x = n.conv(n.input(8), 24, 1);
  const ValueId rows = n.op("Reshape", {x, n.builder().ints({1, 24, 12})}, 24);
  const ValueId turned = n.op("saccade.Reorder", {rows}, 24);
  const Values parts = n.builder().multi("Split", {turned, n.builder().ints({16, 8})}, 2, {{"axis", std::int64_t{1}}});
  const ValueId bins = n.op("Reshape", {parts[0], n.builder().ints({1, 4, 4, 12})}, 4);
  const ValueId first = n.op("Transpose", {bins}, 4, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  const ValueId shares = n.op("Softmax", {first}, 4, {{"axis", std::int64_t{1}}});
  const ValueId sum = n.op("Add", {parts[1], parts[1]}, 8);
  Graph graph = n.build({shares, sum});
  for (ValueId id : {turned, parts[0], parts[1], bins, first, shares, sum}) graph.value(id).layout = Layout::kRowMajor;
  const auto plan = expect_as_reference(graph, kLoose);
  EXPECT_EQ(launches(*plan), "Relu Conv Softmax Add Abs Abs");
}

TEST(CudaPlacement, AgreesOnRandomNetworks) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_as_reference(random_network(seed), kLoose);
  }
}

/// No launch knows it as a constant.
TEST(CudaPlacement, ReadsARenamedConstant) {
  GraphBuilder b;
  const ValueId renamed = b.op("Reshape", {b.random({6, 4}), b.ints({2, 3, 4})});
  const ValueId sum = b.op("Add", {b.input("x", {2, 3, 4}), renamed});
  expect_as_reference(b.build({sum, b.op("Mul", {sum, renamed})}), kLoose);
}

}  // namespace
}  // namespace saccade
