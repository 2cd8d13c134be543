#include <array>

#include "onnx/upgrade/upgrade_rule.hpp"
#include "ops/core/values.hpp"

// com.microsoft's MultiHeadAttention as ONNX's Attention: packed queries, keys and values are split, biases are added,
// and the padding becomes a mask.
//
// Inputs: query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
namespace saccade {
namespace {

/// Part INDEX of a packed (batch, length, heads, parts, size) as (batch, length, heads * size).
ValueId unpacked(Upgrade& upgrade, const std::string& what, std::size_t input, std::int64_t index) {
  const Shape shape = upgrade.shape(input);
  Node part{.op = "Gather",
            .inputs = {upgrade.node.inputs[input], upgrade.constant(what + "_part", Tensor::scalar(index))}};
  part.attributes.set("axis", std::int64_t{3});
  const Shape flat{shape[0], shape[1], checked_multiply(shape[2], shape[4])};
  return upgrade.reshaped(what, upgrade.before(what + "_packed", std::move(part)), flat);
}

/// Input (batch, heads, length, size) as (batch, length, heads * size).
ValueId flattened(Upgrade& upgrade, const std::string& what, std::size_t input) {
  const Shape shape = upgrade.shape(input);
  Node turned{.op = "Transpose", .inputs = {upgrade.node.inputs[input]}};
  turned.attributes.set("perm", std::vector<std::int64_t>{0, 2, 1, 3});
  const Shape flat{shape[0], shape[2], checked_multiply(shape[1], shape[3])};
  return upgrade.reshaped(what, upgrade.before(what + "_turned", std::move(turned)), flat);
}

/// Queries, keys and values as (batch, length, heads * size), and whether each gets its part of the bias.
struct AttentionOperands {
  std::array<ValueId, 3> values{};
  std::array<bool, 3> biased{true, true, true};
};

AttentionOperands operands_of(Upgrade& upgrade) {
  const int ranks[] = {upgrade.shape(0).rank(), upgrade.has(1) ? upgrade.shape(1).rank() : 0,
                       upgrade.has(2) ? upgrade.shape(2).rank() : 0};
  const auto given = [&](std::size_t i) { return upgrade.node.inputs[i]; };
  if (ranks[0] == 5 && ranks[1] == 0 && ranks[2] == 0)
    return {{unpacked(upgrade, "query", 0, 0), unpacked(upgrade, "key", 0, 1), unpacked(upgrade, "value", 0, 2)}};
  if (ranks[0] == 3 && ranks[1] == 5 && ranks[2] == 0)
    return {{given(0), unpacked(upgrade, "key", 1, 0), unpacked(upgrade, "value", 1, 1)}};
  if (ranks[0] == 3 && ranks[1] == 3 && ranks[2] == 3) return {{given(0), given(1), given(2)}};
  // Keys and values from an earlier run are complete.
  if (ranks[0] == 3 && ranks[1] == 4 && ranks[2] == 4)
    return {{given(0), flattened(upgrade, "key", 1), flattened(upgrade, "value", 2)}, {true, false, false}};
  fail(ErrorCode::kInvalidFile, "a query, key and value of {}, {} and {} dimensions are no form of MultiHeadAttention",
       ranks[0], ranks[1], ranks[2]);
}

/// Adds the parts of input 3, the concatenated biases of queries, keys and values.
void add_bias(Upgrade& upgrade, AttentionOperands& operands) {
  static constexpr const char* kNames[] = {"query", "key", "value"};
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = kNames[i];
    ValueId& value = operands.values[i];
    const std::int64_t end = begin + upgrade.type_of(value).shape.back();
    if (operands.biased[i]) {
      const auto bound = [&](const char* what, std::int64_t at) {
        return upgrade.constant(name + what, Tensor::of<std::int64_t>({1}, {at}));
      };
      Node part{.op = "Slice", .inputs = {upgrade.node.inputs[3], bound("_begin", begin), bound("_end", end)}};
      const ValueId bias = upgrade.before(name + "_bias", std::move(part));
      value = upgrade.before(name + "_biased", {.op = "Add", .inputs = {value, bias}});
    }
    begin = end;
  }
}

/// Input 4, the key padding mask, as an additive bias of the scores.
ValueId padding_mask(Upgrade& upgrade) {
  const Shape shape = upgrade.shape(4);
  if (shape.rank() != 2 && shape.rank() != 3)
    fail(ErrorCode::kUnsupported, "a key_padding_mask of shape {} is not supported; it takes one number per key",
         shape.to_string());
  Node cast{.op = "Cast", .inputs = {upgrade.node.inputs[4]}};
  cast.attributes.set("to", std::int64_t{9});  // bool
  const ValueId counts = upgrade.before("counts", std::move(cast));
  const Shape spread{shape[0], 1, shape.rank() == 2 ? 1 : shape[1], shape.back()};
  const float hidden = upgrade.node.attributes.real("mask_filter_value", -10000.0F);
  return upgrade.before("padding", {.op = "Where",
                                    .inputs = {upgrade.reshaped("counts_of_images", counts, spread),
                                               upgrade.constant("seen", upgrade.scalar_like(0)),
                                               upgrade.constant("hidden", upgrade.scalar_like(hidden))}});
}

}  // namespace

void open_multi_head_attention(Upgrade& upgrade) {
  const Node node = upgrade.node;
  for (std::size_t i = 8; i < node.inputs.size(); ++i)
    if (upgrade.has(i)) fail(ErrorCode::kUnsupported, "MultiHeadAttention's input {} is not supported", i);
  if (upgrade.wants(3)) fail(ErrorCode::kUnsupported, "MultiHeadAttention's scores (output 3) are not supported");
  AttentionOperands operands = operands_of(upgrade);
  if (upgrade.has(3)) add_bias(upgrade, operands);
  ValueId mask = upgrade.has(4) ? padding_mask(upgrade) : ValueId::kNone;
  if (upgrade.has(5))
    mask = mask == ValueId::kNone ? node.inputs[5]
                                  : upgrade.before("mask", {.op = "Add", .inputs = {mask, node.inputs[5]}});
  Node attention{.op = "Attention",
                 .name = node.name,
                 .inputs = {operands.values.begin(), operands.values.end()},
                 .outputs = node.outputs};
  attention.inputs.push_back(mask);
  for (const std::size_t past : {6, 7})
    attention.inputs.push_back(upgrade.has(past) ? node.inputs[past] : ValueId::kNone);
  attention.outputs.resize(std::min<std::size_t>(node.outputs.size(), 3));
  const std::int64_t heads = node.attributes.integer("num_heads", 0);
  attention.attributes.set("q_num_heads", heads);
  attention.attributes.set("kv_num_heads", heads);
  attention.attributes.set("is_causal", node.attributes.integer("unidirectional", 0));
  if (const float scale = node.attributes.real("scale", 0); scale != 0) attention.attributes.set("scale", scale);
  upgrade.node = std::move(attention);
}

}  // namespace saccade
