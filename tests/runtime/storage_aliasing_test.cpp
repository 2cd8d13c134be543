#include "runtime/storage_aliasing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;

/// How many nodes are no launches where every node takes every place, but for those of REFUSING operators.
std::vector<std::string> moved_by(const Graph& graph, const std::vector<std::string>& refusing = {}) {
  StorageAliasing storage(graph);
  storage.share(
      [&](NodeId id, const StorageAliasing&) { return std::ranges::count(refusing, graph.node(id).op) == 0; });
  std::vector<std::string> left;
  for (NodeId id : graph.order())
    if (!storage.is_free(graph.node(id))) left.push_back(graph.node(id).name);
  return left;
}

StorageAliasing shared(const Graph& graph) {
  StorageAliasing storage(graph);
  storage.share([](NodeId, const StorageAliasing&) { return true; });
  return storage;
}

using Names = std::vector<std::string>;

/// All values of rank 3 and up lie channels-last, but for those at the graph's edges.
Graph channels_last(Graph graph) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!graph.is_input(id) && !graph.is_output(id) && graph.value(id).type.shape.rank() >= 3)
      graph.value(id).layout = Layout::kChannelsLast;
  }
  return graph;
}

/// Channels FROM to TO.
ValueId channels(GraphBuilder& b, ValueId x, std::int64_t from, std::int64_t to) {
  return b.op("Slice", {x, b.ints({from}), b.ints({to}), b.ints({1})});
}

/// relu(x) in halves, of which the second goes through two more: concat(a, b, neg(b)).
Graph split_and_joined(GraphBuilder& b, std::int64_t first = 4) {
  const ValueId x = b.op("Relu", {b.input("x", {2, 8, 3, 5})});
  const ValueId lower = channels(b, x, 0, first);
  const ValueId upper = channels(b, x, first, 8);
  const ValueId joined = b.op("Concat", {lower, upper, b.op("Neg", {upper})}, {{"axis", std::int64_t{1}}});
  return channels_last(b.build({b.op("Abs", {joined})}));
}

TEST(Placement, WritesPartsOfAConcatInPlace) {
  GraphBuilder b;
  const Graph graph = split_and_joined(b);
  const StorageAliasing storage = shared(graph);
  // x lies in what joins its halves: 12 channels a pixel.
  const auto find = [&](const std::string& name) {
    for (NodeId id : graph.order())
      if (graph.node(id).name == name) return graph.node(id).outputs[0];
    return ValueId::kNone;
  };
  const ValueId joined = find("Concat4");
  EXPECT_EQ(storage.of(find("Relu0")).root, joined);
  EXPECT_EQ(storage.of(find("Relu0")).offset, 0);
  EXPECT_EQ(storage.of(find("Relu0")).strides, (Shape{15 * 12, 1, 5 * 12, 12}));
  EXPECT_EQ(storage.of(find("Slice2")).offset, 4);
  EXPECT_EQ(storage.of(find("Neg3")).offset, 8);
  EXPECT_EQ(storage.of(joined).root, joined);
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Neg3", "Abs5"}));
}

TEST(Placement, CopiesWhatANodeTakesOnlyDense) {
  GraphBuilder b;
  const Graph graph = split_and_joined(b);
  // Neg reads a half and makes a part: neither may be strided. So both are moved, and x stays where it is.
  EXPECT_EQ(moved_by(graph, {"Neg"}), (Names{"Relu0", "Slice2", "Neg3", "Concat4", "Abs5"}));
  // Nor does anything happen where the Concat itself has no such kernel.
  EXPECT_EQ(moved_by(graph, {"Concat"}), (Names{"Relu0", "Slice1", "Slice2", "Neg3", "Concat4", "Abs5"}));
}

TEST(Placement, GivesAValueToOneConcat) {
  GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {1, 4, 2, 2})});
  const ValueId y = b.op("Neg", {x});
  const ValueId z = b.op("Abs", {x});
  const ValueId one = b.op("Concat", {x, y}, {{"axis", std::int64_t{1}}});
  const ValueId two = b.op("Concat", {z, x}, {{"axis", std::int64_t{1}}});
  const Graph graph = channels_last(b.build({b.op("Add", {one, two})}));
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Neg1", "Abs2", "Concat4", "Add5"}));
  const StorageAliasing storage = shared(graph);
  EXPECT_EQ(storage.of(x).root, one);
  EXPECT_EQ(storage.of(z).root, two) << "the second Concat has but x to copy";
}

TEST(Placement, GrowsAConcatThatTheNextBeginsWith) {
  GraphBuilder b;
  const auto concat = [&](std::vector<ValueId> values) {
    return b.op("Concat", std::move(values), {{"axis", std::int64_t{1}}});
  };
  // As DenseNets do: every layer reads all that came before it.
  std::vector<ValueId> features{b.op("Relu", {b.input("x", {1, 4, 2, 2})})};
  for (int i = 0; i < 3; ++i) {
    const ValueId all = i == 0 ? features[0] : concat(features);
    features.push_back(b.op("Conv", {all, b.random({2, 4 + 2 * i, 1, 1})}));
  }
  const ValueId last = concat(features);
  const Graph graph = channels_last(b.build({b.op("Abs", {last})}));
  const StorageAliasing storage = shared(graph);
  for (std::size_t i = 0; i < features.size(); ++i) {
    EXPECT_EQ(storage.of(features[i]).root, last);
    EXPECT_EQ(storage.of(features[i]).offset, i == 0 ? 0 : 2 + 2 * static_cast<std::int64_t>(i));
    EXPECT_EQ(storage.of(features[i]).strides[3], 10);
  }
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Conv1", "Conv3", "Conv5", "Abs7"}));
}

TEST(Placement, LeavesInputsOutputsAndConstantsWhereTheyAre) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 2, 2});
  const ValueId y = b.op("Relu", {x});
  const ValueId joined = b.op("Concat", {x, y, b.random({1, 4, 2, 2})}, {{"axis", std::int64_t{1}}});
  const ValueId half = channels(b, x, 0, 2);
  const Graph graph = b.build({y, b.op("Neg", {joined}), half, b.op("Neg", {half})});
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Concat1", "Slice2", "Neg3", "Neg4"}));
}

TEST(Placement, ViewsASliceOfAnInput) {
  GraphBuilder b;
  const ValueId half = channels(b, b.input("x", {1, 4, 2, 2}), 1, 3);
  const Graph graph = b.build({b.op("Neg", {half})});
  EXPECT_EQ(moved_by(graph), (Names{"Neg1"}));
  EXPECT_EQ(shared(graph).of(half).offset, 4);
}

TEST(Placement, KeepsOutOfOthersParts) {
  GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {1, 8, 2, 2})});
  const ValueId lower = channels(b, x, 0, 4);
  const ValueId upper = channels(b, x, 4, 8);
  const ValueId other = b.op("Neg", {lower});
  // Half of x would reach into the part of other; in the wrong order neither half lies where it should.
  const ValueId half = b.op("Concat", {lower, other}, {{"axis", std::int64_t{1}}});
  const ValueId turned = b.op("Concat", {upper, lower}, {{"axis", std::int64_t{1}}});
  const Graph graph = channels_last(b.build({b.op("Add", {half, turned})}));
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Neg3", "Concat4", "Concat5", "Add6"}));
}

TEST(Placement, TakesAValueThatStandsTwiceOnce) {
  GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {1, 4, 2, 2})});
  const ValueId joined = b.op("Concat", {x, x}, {{"axis", std::int64_t{1}}});
  const Graph graph = channels_last(b.build({b.op("Neg", {joined})}));
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Concat1", "Neg2"}));
  EXPECT_EQ(shared(graph).of(x).root, joined);
}

TEST(Placement, ViewsInAnotherOrderWhatIsReadOnce) {
  GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {2, 3, 8, 5})});
  const auto turned = [&](ValueId value) {
    return b.op("Transpose", {value}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  };
  const ValueId once = turned(b.op("Reshape", {x, b.ints({2, 12, 2, 5})}));
  const ValueId twice = turned(b.op("Abs", {x}));
  const Graph graph = b.build({b.op("Neg", {once}), b.op("Neg", {twice}), b.op("Abs", {twice})});
  EXPECT_EQ(moved_by(graph), (Names{"Relu0", "Abs3", "Transpose4", "Neg5", "Neg6", "Abs7"}));
  EXPECT_EQ(shared(graph).of(once).strides, (Shape{120, 5, 10, 1}));
}

TEST(Placement, FollowsViewsOfWhatIsPlaced) {
  GraphBuilder b;
  const auto concat = [&](std::vector<ValueId> values, std::int64_t axis) {
    return b.op("Concat", std::move(values), {{"axis", axis}});
  };
  // As a detector's head: boxes and classes of two scales, as pixels, one scale behind the other.
  std::vector<ValueId> scales;
  std::vector<ValueId> boxes;
  for (const std::int64_t size : {4, 2}) {
    const ValueId x = b.op("Relu", {b.input("x" + std::to_string(size), {1, 4, size, size})});
    boxes.push_back(b.op("Neg", {x}));
    scales.push_back(b.op("Reshape", {concat({boxes.back(), b.op("Abs", {x})}, 1), b.ints({1, 8, -1})}));
  }
  const ValueId all = concat(scales, 2);
  const Graph graph = channels_last(b.build({b.op("Neg", {all})}));
  const StorageAliasing storage = shared(graph);
  EXPECT_EQ(storage.of(boxes[1]).root, all);
  EXPECT_EQ(storage.of(boxes[1]).offset, 16 * 8);
  EXPECT_EQ(storage.of(boxes[1]).strides[2], 2 * 8);
  for (const std::string& name : moved_by(graph)) EXPECT_FALSE(name.starts_with("Concat")) << name;
}

TEST(Placement, KeepsTogetherWhatLiesTogether) {
  GraphBuilder b;
  const auto concat = [&](std::vector<ValueId> values, std::int64_t axis) {
    return b.op("Concat", std::move(values), {{"axis", axis}});
  };
  const auto reshaped = [&](ValueId value, std::initializer_list<std::int64_t> shape) {
    return b.op("Reshape", {value, b.ints(shape)});
  };
  const ValueId x = b.op("Relu", {b.input("x", {1, 2, 3, 1})});
  const ValueId lower = reshaped(channels(b, x, 0, 1), {1, 3, 1});
  const ValueId upper = reshaped(channels(b, x, 1, 2), {1, 3, 1});
  // Columns that lie side by side are x's channels; where they lie apart, a single channel's view can't say how far.
  const ValueId columns = concat({lower, upper}, 2);
  const ValueId wide = reshaped(columns, {1, 3, 2, 1});
  const ValueId apart = concat({wide, b.op("Abs", {wide})}, 3);
  const Graph graph = b.build({b.op("Neg", {apart})});
  const StorageAliasing storage = shared(graph);
  EXPECT_EQ(storage.of(x).root, columns);
  EXPECT_EQ(storage.of(upper).offset, 1);
  EXPECT_EQ(storage.of(columns).root, columns);
}

TEST(Placement, RefusesStridesThatAViewCannotHave) {
  GraphBuilder b;
  const ValueId x = b.op("Relu", {b.input("x", {2, 3, 4})});
  const ValueId flat = b.op("Reshape", {b.op("Neg", {x}), b.ints({24})});
  const ValueId y = b.op("Reshape", {flat, b.ints({2, 3, 4})});
  const ValueId joined = b.op("Concat", {x, y}, {{"axis", std::int64_t{2}}});
  const Graph graph = b.build({b.op("Neg", {joined}), b.op("Abs", {flat})});
  // Rows of 4 in rows of 8 are no row of 24.
  EXPECT_EQ(shared(graph).of(y).root, graph.node(graph.order()[1]).outputs[0]);
  EXPECT_EQ(shared(graph).of(x).root, joined);
}

}  // namespace
}  // namespace saccade
