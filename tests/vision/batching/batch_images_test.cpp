#include "vision/batching/batch_images.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "graph/verify.hpp"
#include "ops/interpreter/interpret.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

using test::GraphBuilder;
using test::random_tensor;

constexpr std::int64_t kImages = 3;

/// The part of BATCHED that belongs to an image.
std::vector<float> part_of(const Tensor& batched, ImageAxis axis, std::int64_t image) {
  std::int64_t before = 1;
  std::int64_t after = 1;
  const Shape& shape = batched.shape();
  for (int i = 0; i < axis.axis; ++i) before *= shape[i];
  for (int i = axis.axis + 1; i < shape.rank(); ++i) after *= shape[i];
  std::vector<float> part;
  const std::span<const float> all = batched.data<float>();
  const std::int64_t run = axis.inner * after;
  before *= axis.outer;
  for (std::int64_t i = 0; i < before; ++i) {
    const auto start = all.begin() + (i * kImages + image) * run;
    part.insert(part.end(), start, start + run);
  }
  return part;
}

Tensor join(const std::vector<Tensor>& images) {
  Shape shape = images[0].shape();
  shape[0] = static_cast<std::int64_t>(images.size());
  Tensor joined(DType::kFloat32, shape);
  auto to = joined.data<float>().begin();
  for (const Tensor& image : images) to = std::ranges::copy(image.data<float>(), to).out;
  return joined;
}

/// Expects that the reference kernels compute for a batch what they compute for each image.
void expect_apart(const Graph& single) {
  Graph batched = single;
  const auto axes = batch_images(batched, batched.inputs()[0], kImages);
  verify(batched);
  const std::string& input = single.value(single.inputs()[0]).name;
  std::vector<Tensor> images;
  for (unsigned i = 0; i < kImages; ++i)
    images.push_back(random_tensor(single.value(single.inputs()[0]).type.shape, 100 + i));
  const std::vector<Tensor> together = interpret(batched, {{input, join(images)}});
  for (std::int64_t image = 0; image < kImages; ++image) {
    const std::vector<Tensor> alone = interpret(single, {{input, images[static_cast<std::size_t>(image)]}});
    for (std::size_t i = 0; i < alone.size(); ++i) {
      ASSERT_TRUE(axes[i]);
      const std::vector<float> part = part_of(together[i], *axes[i], image);
      const std::span<const float> wanted = alone[i].data<float>();
      ASSERT_EQ(part.size(), wanted.size());
      for (std::size_t k = 0; k < part.size(); ++k) ASSERT_FLOAT_EQ(part[k], wanted[k]) << "image " << image;
    }
  }
}

std::string refusal_of(Graph graph) {
  try {
    batch_images(graph, graph.inputs()[0], kImages);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
  return "";
}

TEST(BatchImages, ConvolutionsAndAHeadKeepThemApart) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 3, 8, 8});
  const ValueId features = b.op("Relu", {b.op("Conv", {x, b.random({4, 3, 3, 3})})});
  const ValueId pooled = b.op("Reshape", {b.op("GlobalAveragePool", {features}), b.ints({1, 4})});
  expect_apart(b.build({b.op("Gemm", {pooled, b.random({4, 5}), b.random({1, 5})})}));
}

TEST(BatchImages, AttentionOverTokensWithAClassToken) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 4, 6});
  const ValueId tokens = b.op("Concat", {b.random({1, 1, 6}), x}, {{"axis", std::int64_t{1}}});
  const ValueId biased = b.op("Add", {tokens, b.random({1, 5, 6})});
  const ValueId qkv = b.op("MatMul", {biased, b.random({6, 18})});
  const ValueId heads = b.op("Transpose", {b.op("Reshape", {qkv, b.ints({1, 5, 3, 2, 3})})},
                             {{"perm", std::vector<std::int64_t>{2, 0, 3, 1, 4}}});
  const auto part = [&](std::int64_t i) {
    return b.op("Gather", {heads, b.constant(Tensor::scalar<std::int64_t>(i))}, {{"axis", std::int64_t{0}}});
  };
  const ValueId keys = b.op("Transpose", {part(1)}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  const ValueId weights = b.op("Softmax", {b.op("MatMul", {part(0), keys})}, {{"axis", std::int64_t{-1}}});
  const ValueId mixed =
      b.op("Transpose", {b.op("MatMul", {weights, part(2)})}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  expect_apart(b.build({b.op("Reshape", {mixed, b.ints({1, 5, 6})})}));
}

TEST(BatchImages, WindowsOfAnImageFollowEachOther) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 4, 4, 2});
  const ValueId split = b.op("Reshape", {x, b.ints({1, 2, 2, 2, 2, 2})});
  const std::vector<std::int64_t> swap = {0, 1, 3, 2, 4, 5};
  const ValueId windows = b.op("Reshape", {b.op("Transpose", {split}, {{"perm", swap}}), b.ints({-1, 4, 2})});
  const ValueId bias = b.op("Add", {windows, b.random({4, 1, 1})});  // by window
  const ValueId back = b.op("Reshape", {bias, b.ints({1, 2, 2, 2, 2, 2})});
  expect_apart(b.build({b.op("Reshape", {b.op("Transpose", {back}, {{"perm", swap}}), b.ints({1, 4, 4, 2})})}));
}

TEST(BatchImages, TheImageWithoutItsDimension) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 3, 4});
  const ValueId first = b.op("Gather", {x, b.constant(Tensor::scalar<std::int64_t>(0))}, {{"axis", std::int64_t{0}}});
  expect_apart(b.build({b.op("MatMul", {b.op("Relu", {first}), b.random({4, 2})})}));
}

TEST(BatchImages, ImagesWithinTheTokensAsPyTorchsAttentionHasThem) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 5, 6});
  const ValueId tokens = b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  const ValueId rows = b.op("Gemm", {b.op("Reshape", {tokens, b.ints({5, 6})}), b.random({6, 6})});
  const ValueId heads =
      b.op("Transpose", {b.op("Reshape", {b.op("Reshape", {rows, b.ints({5, 1, 6})}), b.ints({5, 2, 3})})},
           {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  const ValueId keys = b.op("Transpose", {heads}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  const ValueId mixed = b.op("MatMul", {b.op("Softmax", {b.op("MatMul", {heads, keys})}), heads});
  const ValueId joined =
      b.op("Reshape", {b.op("Transpose", {mixed}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}), b.ints({5, 6})});
  const ValueId out = b.op("Gemm", {joined, b.random({6, 6})});
  expect_apart(b.build({out, b.op("Transpose", {b.op("Reshape", {out, b.ints({5, 1, 6})})},
                                  {{"perm", std::vector<std::int64_t>{1, 0, 2}}})}));
}

TEST(BatchImages, CopiesOfATokenForTheWindowsOfItsImage) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 3, 2});
  const ValueId token = b.op("Slice", {x, b.ints({0}), b.ints({1}), b.ints({1})});
  const ValueId copies = b.op("Tile", {token, b.ints({4, 1, 1})});
  const ValueId windows =
      b.op("Reshape", {b.op("Concat", {x, x, x, x}, {{"axis", std::int64_t{1}}}), b.ints({4, 3, 2})});
  expect_apart(b.build({b.op("Concat", {copies, windows}, {{"axis", std::int64_t{1}}})}));
}

TEST(BatchImages, ShapesThatAreComputed) {
  GraphBuilder b;
  const ValueId x = b.input("images", {1, 3, 4, 4});
  const ValueId count = b.op("Gather", {b.op("Shape", {x}), b.ints({0})}, {{"axis", std::int64_t{0}}});
  const ValueId target = b.op("Concat", {count, b.ints({-1})}, {{"axis", std::int64_t{0}}});
  const ValueId zeros =
      b.op("Expand", {b.random({1, 1}), b.op("Concat", {count, b.ints({48})}, {{"axis", std::int64_t{0}}})});
  expect_apart(b.build({b.op("Add", {b.op("Reshape", {x, target}), zeros})}));
}

TEST(BatchImages, WhatMixesImagesIsRefusedByName) {
  const auto refused = [](const std::function<ValueId(GraphBuilder&, ValueId)>& add) {
    GraphBuilder b;
    const ValueId x = b.input("images", {1, 3, 4});
    return refusal_of(b.build({add(b, x)}));
  };
  const auto reduced = refused([](GraphBuilder& b, ValueId x) { return b.op("ReduceMean", {x}); });
  EXPECT_NE(reduced.find("ReduceMean0"), std::string::npos) << reduced;
  EXPECT_NE(reduced.find("combines the images"), std::string::npos) << reduced;
  EXPECT_NE(refused([](GraphBuilder& b, ValueId x) { return b.op("Softmax", {x}, {{"axis", std::int64_t{0}}}); }), "");
  EXPECT_NE(refused([](GraphBuilder& b, ValueId x) {
              return b.op("Reshape",
                          {b.op("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}), b.ints({2, 6})});
            }),
            "");
  EXPECT_NE(refused([](GraphBuilder& b, ValueId x) { return b.op("Mul", {x, b.random({2, 3, 4})}); }), "");
  EXPECT_NE(refused([](GraphBuilder& b, ValueId x) {
              return b.op("Concat", {x, b.random({1, 3, 4})}, {{"axis", std::int64_t{0}}});
            }),
            "");
}

}  // namespace
}  // namespace saccade
