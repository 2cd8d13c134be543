#pragma once

#include <limits>

#include "op_case/op_case.hpp"
#include "ops/layers/access_pattern.hpp"

/// Cases of saccade.StridedAttention.
namespace saccade::attention_case {

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
inline std::vector<std::int64_t> rows(const Lengths& lengths, std::int64_t tokens, std::int64_t width,
                                      std::int64_t first, std::int64_t channels) {
  AccessPattern pattern{.offset = first};
  pattern.loops = {AccessPattern::Loop{{lengths.images, tokens * width}, {lengths.heads, channels}},
                   AccessPattern::Loop{{tokens, width}}, AccessPattern::Loop{{channels, 1}}};
  pattern.simplify();
  return pattern.to_integers();
}

inline OpCase attention(const Lengths& lengths) {
  OpCase made("StridedAttention", "saccade");
  const std::int64_t width = lengths.heads * lengths.values;
  made.attribute("shape", std::vector<std::int64_t>{lengths.images, lengths.queries, width})
      .attribute("output", rows(lengths, lengths.queries, width, 0, lengths.values))
      .attribute("scale", 0.4F);
  return made;
}

/// Queries, keys and values, each from a GEMM of its own.
inline OpCase separate(const Lengths& lengths, DType dtype = DType::kFloat32) {
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
inline void add_mask(OpCase& made, const Lengths& lengths, DType dtype) {
  AccessPattern pattern;
  pattern.loops = {AccessPattern::Loop{{lengths.images, lengths.queries * lengths.keys}, {lengths.heads, 0}},
                   AccessPattern::Loop{{lengths.queries, lengths.keys}}, AccessPattern::Loop{{lengths.keys, 1}}};
  pattern.simplify();
  made.input(dtype, {lengths.images, 1, lengths.queries, lengths.keys}).attribute("mask", pattern.to_integers());
}

/// A query that sees one late key, one whose keys are all hidden by the lowest number, so that they weigh the same, and
/// one whose keys are all hidden by -infinity.
inline OpCase hidden_keys(std::int64_t keys, DType dtype) {
  const float lowest = std::numeric_limits<float>::lowest();
  const float infinity = std::numeric_limits<float>::infinity();
  Tensor mask(DType::kFloat32, {3, keys});
  for (std::int64_t i = 0; i < 3 * keys; ++i)
    mask.data<float>()[static_cast<std::size_t>(i)] = i == keys - 5 ? 0.0F : i / keys == 1 ? lowest : -infinity;
  AccessPattern pattern;
  pattern.loops = {AccessPattern::Loop{}, AccessPattern::Loop{{3, keys}}, AccessPattern::Loop{{keys, 1}}};
  OpCase made = separate({.heads = 1, .queries = 3, .keys = keys}, dtype);
  made.input(mask).attribute("mask", pattern.to_integers());
  return made;
}

/// Two heads of 24 channels, whose queries, keys and values one GEMM computed side by side.
inline OpCase of_one_tensor(std::int64_t images, std::int64_t tokens, DType dtype) {
  const Lengths lengths{.images = images, .queries = tokens, .keys = tokens, .channels = 24, .values = 24};
  OpCase one = attention(lengths);
  for (const auto& [name, first] : {std::pair{"query", 0}, {"key", 48}, {"value", 96}})
    one.input(dtype, {images, tokens, 144}).attribute(name, rows(lengths, tokens, 144, first, 24));
  return one;
}

/// Heads of a convolution's output: channels are planes.
inline OpCase of_images(DType dtype, std::int64_t channels) {
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

/// 2x2 windows of 3x3 tokens in an image of 6x6.
inline OpCase of_windows(DType dtype) {
  AccessPattern windows;
  windows.loops = {AccessPattern::Loop{{2, 6 * 3 * 8}, {2, 3 * 8}}, AccessPattern::Loop{{3, 6 * 8}, {3, 8}},
                   AccessPattern::Loop{{8, 1}}};
  OpCase made("StridedAttention", "saccade");
  for (int i = 0; i < 3; ++i) made.input(dtype, {1, 36, 8});
  for (const char* name : {"query", "key", "value", "output"}) made.attribute(name, windows.to_integers());
  made.attribute("shape", std::vector<std::int64_t>{1, 36, 8});
  return made;
}

}  // namespace saccade::attention_case
