#include "cpu/loops/pixel_pitches.hpp"

#include <algorithm>

#include "runtime/storage_alias.hpp"
#include "runtime/storage_aliasing.hpp"

namespace saccade::cpu {

bool has_pixel_pitches(const NodeContext& context) {
  const auto is_spaced = [](const Value& value, const StorageView& view) {
    return value.layout == Layout::kChannelsLast && pixel_pitch(value.type.shape, view);
  };
  if (!is_spaced(context.input(0), context.input_storage(0)) || !is_spaced(context.output(), context.output_storage()))
    return false;
  return std::ranges::all_of(context.node.post_ops, [&](const PostOp& post) {
    if (post.operand < 0) return true;
    const Value& operand = context.input(post.operand);
    if (operand.type.shape == context.output().type.shape)
      return is_spaced(operand, context.input_storage(post.operand));
    return context.storage == nullptr ||
           !context.storage->is_aliased(context.node.inputs[static_cast<std::size_t>(post.operand)]);
  });
}

PixelPitches pixel_pitches(const NodeContext& context) {
  const auto pitch = [](const Shape& shape, const StorageView& view) {
    return pixel_pitch(shape, view).value_or(shape[1]);
  };
  return {.in = pitch(context.input(0).type.shape, context.input_storage(0)),
          .out = pitch(context.output().type.shape, context.output_storage())};
}

}  // namespace saccade::cpu
