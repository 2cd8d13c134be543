#include <limits>

#include "op_case/op_case.hpp"
#include "ops/core/tf32.hpp"
#include "ops/layers/access_pattern.hpp"

namespace saccade {
namespace {

constexpr Tolerance kSums{.absolute = 2e-5, .relative = 2e-5};
constexpr Tolerance kTf32{.absolute = 2e-3, .relative = 4e-3};
constexpr Tolerance kHalf{.absolute = 2e-3, .relative = 4e-3};
constexpr Tolerance kBrain{.absolute = 2e-2, .relative = 2e-2};

/// Heads of an image, tokens and channels.
struct Lengths {
  std::int64_t images = 1;
  std::int64_t heads = 2;
  std::int64_t queries = 20;
  std::int64_t keys = 20;
  std::int64_t channels = 16;
  std::int64_t values = 16;
};

/// Rows of WIDTH elements per token, in which a head's CHANNELS begin at FIRST.
std::vector<std::int64_t> rows(const Lengths& lengths, std::int64_t tokens, std::int64_t width, std::int64_t first,
                               std::int64_t channels) {
  AccessPattern pattern{.offset = first};
  pattern.loops = {AccessPattern::Loop{{lengths.images, tokens * width}, {lengths.heads, channels}},
                   AccessPattern::Loop{{tokens, width}}, AccessPattern::Loop{{channels, 1}}};
  pattern.simplify();
  return pattern.to_integers();
}

OpCase attention(const Lengths& lengths) {
  OpCase made("StridedAttention", "saccade");
  const std::int64_t width = lengths.heads * lengths.values;
  made.attribute("shape", std::vector<std::int64_t>{lengths.images, lengths.queries, width})
      .attribute("output", rows(lengths, lengths.queries, width, 0, lengths.values))
      .attribute("scale", 0.4F);
  return made;
}

/// Queries, keys and values, each from a GEMM of its own.
OpCase separate(const Lengths& lengths, DType dtype = DType::kFloat32) {
  const auto& [images, heads, queries, keys, channels, values] = lengths;
  OpCase made = attention(lengths);
  made.input(dtype, {images, queries, heads * channels})
      .input(dtype, {images, keys, heads * channels})
      .input(dtype, {images, keys, heads * values})
      .attribute("query", rows(lengths, queries, heads * channels, 0, channels))
      .attribute("key", rows(lengths, keys, heads * channels, 0, channels))
      .attribute("value", rows(lengths, keys, heads * values, 0, values));
  return made;
}

/// The same mask for all heads of an image.
void add_mask(OpCase& made, const Lengths& lengths, DType dtype) {
  AccessPattern pattern;
  pattern.loops = {AccessPattern::Loop{{lengths.images, lengths.queries * lengths.keys}, {lengths.heads, 0}},
                   AccessPattern::Loop{{lengths.queries, lengths.keys}}, AccessPattern::Loop{{lengths.keys, 1}}};
  pattern.simplify();
  made.input(dtype, {lengths.images, 1, lengths.queries, lengths.keys}).attribute("mask", pattern.to_integers());
}

TEST(CudaAttention, MultipliesInFloat) {
  separate({}).check(on_cuda("fused.attention"), kSums);
  separate({.images = 2, .heads = 3, .queries = 37, .keys = 150, .channels = 8, .values = 20})
      .check(on_cuda("fused.attention"), kSums);
  separate({.heads = 1, .queries = 1, .keys = 1, .channels = 1, .values = 1}).check(on_cuda("fused.attention"), kSums);
  separate({.heads = 1, .queries = 70, .keys = 33, .channels = 3, .values = 5})
      .check(on_cuda("fused.attention"), kSums);
}

TEST(CudaAttention, RoundsToTf32) {
  const auto check = [](OpCase made) {
    made.attribute(kTf32Attribute, std::int64_t{1}).check(on_cuda("fused.attention"), kTf32);
  };
  check(separate({.images = 2, .heads = 3, .queries = 37, .keys = 150, .channels = 8, .values = 20}));
  check(separate({.heads = 1, .queries = 70, .keys = 33, .channels = 3, .values = 5}));
  check(separate({.heads = 1, .queries = 40, .keys = 97, .channels = 64, .values = 72}));
  const Lengths lengths{.images = 2, .heads = 2, .queries = 19, .keys = 45};
  OpCase masked = separate(lengths);
  add_mask(masked, lengths, DType::kFloat32);
  check(masked);
}

TEST(CudaAttention, UsesTensorCoresInHalfPrecision) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kHalf : kBrain;
    separate({}, dtype).check(on_cuda("fused.attention"), tolerance);
    separate({.images = 2, .queries = 50, .keys = 197, .channels = 32, .values = 64}, dtype)
        .check(on_cuda("fused.attention"), tolerance);
    separate({.heads = 1, .queries = 5, .keys = 300, .channels = 80, .values = 24}, dtype)
        .check(on_cuda("fused.attention"), tolerance);
    separate({.heads = 3, .queries = 17, .keys = 9, .channels = 6, .values = 7}, dtype)
        .check(on_cuda("fused.attention"), tolerance);
  }
  separate({.heads = 1, .queries = 3, .keys = 40, .channels = 256, .values = 256}, DType::kFloat16)
      .check(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, TakesManyKeysByWarpgroups) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tolerance tolerance = dtype == DType::kFloat16 ? kHalf : kBrain;
    // Whole blocks of queries and k-steps, and partial ones; heads of fewer and of more than 64 channels.
    separate({.heads = 1, .queries = 64, .keys = 256, .channels = 64, .values = 64}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.queries = 70, .keys = 331, .channels = 40, .values = 80}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.heads = 1, .queries = 65, .keys = 259, .channels = 128, .values = 8}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.heads = 1, .queries = 64, .keys = 300, .channels = 16, .values = 128}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
    separate({.heads = 1, .queries = 64, .keys = 260, .channels = 48, .values = 112}, dtype)
        .check(on_cuda("warpgroup.attention"), tolerance);
  }
}

TEST(CudaAttention, TakesManyMaskedKeysByWarpgroups) {
  const Lengths lengths{.heads = 2, .queries = 66, .keys = 270};
  OpCase masked = separate(lengths, DType::kFloat16);
  add_mask(masked, lengths, DType::kFloat16);
  masked.check(on_cuda("warpgroup.attention"), kHalf);
  separate({.queries = 64, .keys = 260}, DType::kFloat16)
      .attribute("scale", -0.7F)
      .check(on_cuda("warpgroup.attention"), kHalf);
}

TEST(CudaAttention, ReadsManyTokensOfOneTensorByWarpgroups) {
  const Lengths lengths{.heads = 2, .queries = 256, .keys = 256, .channels = 24, .values = 24};
  OpCase one = attention(lengths);
  for (const auto& [name, first] : {std::pair{"query", 0}, {"key", 48}, {"value", 96}})
    one.input(DType::kFloat16, {1, 256, 144}).attribute(name, rows(lengths, 256, 144, first, 24));
  one.check(on_cuda("warpgroup.attention"), kHalf);
}

TEST(CudaAttention, AddsMasks) {
  const Lengths lengths{.images = 2, .heads = 2, .queries = 19, .keys = 45};
  for (DType mask : {DType::kFloat32, DType::kFloat16, DType::kFloat64}) {
    OpCase in_float = separate(lengths);
    add_mask(in_float, lengths, mask);
    in_float.check(on_cuda("fused.attention"), kSums);
    OpCase in_half = separate(lengths, DType::kFloat16);
    add_mask(in_half, lengths, mask);
    in_half.check(on_cuda("fused.attention"), kHalf);
  }
}

TEST(CudaAttention, HidesKeysByInfinityAndByTheLowestNumber) {
  const Lengths lengths{.heads = 1, .queries = 3, .keys = 70};
  const float lowest = std::numeric_limits<float>::lowest();
  const float infinity = std::numeric_limits<float>::infinity();
  // The first query sees one late key; the second none, so all keys weigh the same; the third none at all.
  Tensor mask(DType::kFloat32, {3, 70});
  for (std::size_t i = 0; i < 210; ++i)
    mask.data<float>()[i] = i == 65 ? 0.0F : i < 70 ? -infinity : i < 140 ? lowest : -infinity;
  AccessPattern pattern;
  pattern.loops = {AccessPattern::Loop{}, AccessPattern::Loop{{3, 70}}, AccessPattern::Loop{{70, 1}}};
  for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
    OpCase made = separate(lengths, dtype);
    made.input(mask).attribute("mask", pattern.to_integers());
    made.check(on_cuda("fused.attention"), dtype == DType::kFloat32 ? kSums : kHalf);
  }
}

TEST(CudaAttention, ScalesDownwardsAndByNothing) {
  separate({.keys = 90}).attribute("scale", -0.7F).check(on_cuda("fused.attention"), kSums);
  separate({.keys = 90}, DType::kFloat16).attribute("scale", -0.7F).check(on_cuda("fused.attention"), kHalf);
  separate({}, DType::kFloat16).attribute("scale", 0.0F).check(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, ReadsQueriesKeysAndValuesThatLieInOneTensor) {
  const Lengths lengths{.images = 2, .heads = 2, .queries = 21, .keys = 21, .channels = 24, .values = 24};
  for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
    OpCase one = attention(lengths);
    one.input(dtype, {2, 21, 144}).input(dtype, {2, 21, 144}).input(dtype, {2, 21, 144});
    for (const auto& [name, first] : {std::pair{"query", 0}, {"key", 48}, {"value", 96}})
      one.attribute(name, rows(lengths, 21, 144, first, 24));
    one.check(on_cuda("fused.attention"), dtype == DType::kFloat32 ? kSums : kHalf);
  }
}

/// Heads of a convolution's output: channels are planes.
OpCase images(DType dtype, std::int64_t channels) {
  OpCase made("StridedAttention", "saccade");
  const std::int64_t planes = 2 * 3 * channels;
  const auto pattern = [&](std::int64_t first, std::int64_t head) {
    AccessPattern heads{.offset = first * 28};
    // An area is two rows of seven: half the image.
    heads.loops = {AccessPattern::Loop{{2, 14}, {2, head * 28}}, AccessPattern::Loop{{14, 1}},
                   AccessPattern::Loop{{channels, 28}}};
    return heads.to_integers();
  };
  for (int i = 0; i < 3; ++i) made.input(dtype, {1, planes, 4, 7});
  made.attribute("query", pattern(0, 3 * channels))
      .attribute("key", pattern(channels, 3 * channels))
      .attribute("value", pattern(2 * channels, 3 * channels))
      .attribute("output", pattern(0, channels))
      .attribute("shape", std::vector<std::int64_t>{1, 2 * channels, 4, 7});
  return made;
}

TEST(CudaAttention, ReadsImagesInEitherLayout) {
  images(DType::kFloat32, 4).check_layouts(on_cuda("fused.attention"), kSums);
  images(DType::kFloat16, 16).check_layouts(on_cuda("fused.attention"), kHalf);
  images(DType::kFloat16, 6).check_layouts(on_cuda("fused.attention"), kHalf);
}

TEST(CudaAttention, ReadsTokensOfWindowsWhereTheyLie) {
  // 2x2 windows of 3x3 tokens in an image of 6x6.
  AccessPattern windows;
  windows.loops = {AccessPattern::Loop{{2, 6 * 3 * 8}, {2, 3 * 8}}, AccessPattern::Loop{{3, 6 * 8}, {3, 8}},
                   AccessPattern::Loop{{8, 1}}};
  for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
    OpCase made("StridedAttention", "saccade");
    for (int i = 0; i < 3; ++i) made.input(dtype, {1, 36, 8});
    for (const char* name : {"query", "key", "value", "output"}) made.attribute(name, windows.to_integers());
    made.attribute("shape", std::vector<std::int64_t>{1, 36, 8});
    made.check(on_cuda("fused.attention"), dtype == DType::kFloat32 ? kSums : kHalf);
  }
}

}  // namespace
}  // namespace saccade
