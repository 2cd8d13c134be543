#include "passes/rewrite.hpp"

namespace saccade {
namespace {

using test::frame_pixels;
using test::GraphBuilder;
using test::operators;

constexpr std::int64_t kToHalf = 10;
constexpr std::int64_t kToBFloat16 = 16;

std::int64_t fuse_cast(Graph& graph) {
  return test::rewrite(graph, "fuse_preprocess_cast",
                       {.target = {.has_kernel = [](const Graph& within, const Node& node) {
                          return within.value(node.outputs[0]).type.dtype == DType::kBFloat16;
                        }}});
}

TEST(FusePreprocessCast, MakesHalvesAtOnce) {
  GraphBuilder b;
  const auto made = frame_pixels(b);
  const ValueId half = b.op("Cast", {made[0]}, {{"to", kToBFloat16}});
  const ValueId wide = b.op("Cast", {b.op("Relu", {half})}, {{"to", std::int64_t{1}}});
  Graph graph = b.build({wide, b.op("Neg", {made[1]})});

  EXPECT_EQ(fuse_cast(graph), 1);
  EXPECT_EQ(operators(graph), "Preprocess Relu Cast Neg");
}

TEST(FusePreprocessCast, StaysWhereItMay) {
  GraphBuilder without_kernel;
  const ValueId half = without_kernel.op("Cast", {frame_pixels(without_kernel)[0]}, {{"to", kToHalf}});
  Graph first = without_kernel.build({without_kernel.op("Relu", {half})});
  EXPECT_EQ(fuse_cast(first), 0);

  GraphBuilder other_reader;
  const ValueId made = frame_pixels(other_reader)[0];
  const ValueId narrow = other_reader.op("Cast", {made}, {{"to", kToBFloat16}});
  Graph second = other_reader.build({other_reader.op("Relu", {narrow}), other_reader.op("Relu", {made})});
  EXPECT_EQ(fuse_cast(second), 0);

  GraphBuilder geometry;
  Graph third = geometry.build({geometry.op("Cast", {frame_pixels(geometry)[1]}, {{"to", kToBFloat16}})});
  EXPECT_EQ(fuse_cast(third), 0);
}

}  // namespace
}  // namespace saccade
