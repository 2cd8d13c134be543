#include <map>

#include "ops/core/op.hpp"

// One line per file of operators: SACCADE_OPS(name) adds the operators that name_ops() returns.
// clang-format off
#define SACCADE_ALL_OPS(SACCADE_OPS) \
  SACCADE_OPS(affine_grid) \
  SACCADE_OPS(arg_max) \
  SACCADE_OPS(attention) \
  SACCADE_OPS(binary) \
  SACCADE_OPS(bitwise) \
  SACCADE_OPS(box_masks) \
  SACCADE_OPS(cast) \
  SACCADE_OPS(center_crop_pad) \
  SACCADE_OPS(choose) \
  SACCADE_OPS(col2im) \
  SACCADE_OPS(compare) \
  SACCADE_OPS(compress) \
  SACCADE_OPS(concat) \
  SACCADE_OPS(conv) \
  SACCADE_OPS(cum_sum) \
  SACCADE_OPS(decode_boxes) \
  SACCADE_OPS(decode_end_to_end) \
  SACCADE_OPS(decode_yolov5) \
  SACCADE_OPS(decode_yolov8) \
  SACCADE_OPS(deform_conv) \
  SACCADE_OPS(depth_space) \
  SACCADE_OPS(det) \
  SACCADE_OPS(einsum) \
  SACCADE_OPS(expand) \
  SACCADE_OPS(fused) \
  SACCADE_OPS(gather) \
  SACCADE_OPS(generate) \
  SACCADE_OPS(grid_sample) \
  SACCADE_OPS(lrn) \
  SACCADE_OPS(map_classes) \
  SACCADE_OPS(map_points) \
  SACCADE_OPS(matmul) \
  SACCADE_OPS(max_unpool) \
  SACCADE_OPS(non_max_suppression) \
  SACCADE_OPS(non_zero) \
  SACCADE_OPS(normalization) \
  SACCADE_OPS(normalized_product) \
  SACCADE_OPS(one_hot) \
  SACCADE_OPS(pad) \
  SACCADE_OPS(pool) \
  SACCADE_OPS(pow) \
  SACCADE_OPS(preprocess) \
  SACCADE_OPS(quantize_linear) \
  SACCADE_OPS(quantized_float) \
  SACCADE_OPS(quantized_products) \
  SACCADE_OPS(random) \
  SACCADE_OPS(reduce) \
  SACCADE_OPS(regions) \
  SACCADE_OPS(reorder) \
  SACCADE_OPS(resize) \
  SACCADE_OPS(reverse_sequence) \
  SACCADE_OPS(rotary_embedding) \
  SACCADE_OPS(scale_normalization) \
  SACCADE_OPS(scatter) \
  SACCADE_OPS(select_boxes) \
  SACCADE_OPS(select_queries) \
  SACCADE_OPS(shape_of) \
  SACCADE_OPS(shrink) \
  SACCADE_OPS(sized) \
  SACCADE_OPS(slice) \
  SACCADE_OPS(softmax) \
  SACCADE_OPS(strided_attention) \
  SACCADE_OPS(summarize_rows) \
  SACCADE_OPS(take_objects) \
  SACCADE_OPS(top_classes) \
  SACCADE_OPS(top_k) \
  SACCADE_OPS(trace_masks) \
  SACCADE_OPS(transpose) \
  SACCADE_OPS(trilu) \
  SACCADE_OPS(unary) \
  SACCADE_OPS(unique) \
  SACCADE_OPS(view) \
  SACCADE_OPS(where)
// clang-format on

namespace saccade {

#define SACCADE_DECLARE(name) std::span<const Op> name##_ops();
SACCADE_ALL_OPS(SACCADE_DECLARE)

namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, const Op*>& table() {
  static const auto ops = [] {
    std::map<Key, const Op*> all;
    const auto add = [&](std::span<const Op> family) {
      for (const Op& op : family) all.emplace(Key{op.domain, op.name}, &op);
    };
#define SACCADE_ADD(name) add(name##_ops());
    SACCADE_ALL_OPS(SACCADE_ADD)
    return all;
  }();
  return ops;
}

}  // namespace

const Op* find_op(std::string_view domain, std::string_view name) {
  const auto found = table().find({domain == "ai.onnx" ? "" : domain, name});
  return found == table().end() ? nullptr : found->second;
}

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops;
  for (const auto& [key, op] : table()) ops.push_back(op);
  return ops;
}

}  // namespace saccade
