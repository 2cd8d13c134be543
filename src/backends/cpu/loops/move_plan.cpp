#include "cpu/loops/move_plan.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "cpu/loops/element_program.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/movement/transpose.hpp"
#include "runtime/storage_alias.hpp"

namespace saccade::cpu {
namespace {

using Integers = std::vector<std::int64_t>;

/// A constant list of integers; nullopt if it is not constant.
std::optional<Integers> integers(const NodeContext& context, int i) {
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->dtype() == DType::kInt64)
    return Integers(tensor->data<std::int64_t>().begin(), tensor->data<std::int64_t>().end());
  if (tensor->dtype() == DType::kInt32)
    return Integers(tensor->data<std::int32_t>().begin(), tensor->data<std::int32_t>().end());
  return std::nullopt;
}

int positive_axis(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

/// A copy of SHAPE's elements with the given strides.
MovePiece piece_of(const Shape& shape, const Shape& dst_strides, const Shape& src_strides) {
  MovePiece piece;
  for (int i = 0; i < shape.rank(); ++i)
    piece.loops.push_back({.size = shape[i], .strides = {dst_strides[i], src_strides[i]}});
  return piece;
}

class Planner {
 public:
  explicit Planner(const NodeContext& context)
      : context_(context),
        src_(view_of(context.input(0))),
        dst_(view_of(context.output())),
        src_strides_(context.input_storage(0).strides),
        dst_strides_(context.output_storage().strides) {}

  /// The same shape; only the layout may differ.
  bool identity() { return add(piece_of(src_.shape, dst_strides_, src_strides_)); }

  /// Another shape with the same row-major order; iterates in the order of the channels-last tensor.
  bool reshape() {
    if (src_.shape == dst_.shape) return identity();
    const bool src_plain = src_.layout == Layout::kRowMajor || src_.shape.rank() < 3;
    const bool dst_plain = dst_.layout == Layout::kRowMajor || dst_.shape.rank() < 3;
    if (dst_plain) return add(piece_of(src_.shape, dense_strides(src_.shape), src_strides_));
    if (src_plain) return add(piece_of(dst_.shape, dst_strides_, dense_strides(dst_.shape)));
    // Batch and channels unchanged: only spatial dimensions are split differently.
    if (src_.shape[0] == dst_.shape[0] && src_.shape[1] == dst_.shape[1])
      return add(piece_of(Shape{src_.shape.elements()}, Shape{1}, Shape{1}));
    return refuse("it reshapes between two channels-last tensors");
  }

  bool transpose() {
    const int rank = src_.shape.rank();
    const Shape order = transpose_order(context_.node.attributes, rank);
    Shape permuted = dst_strides_;
    for (int i = 0; i < rank; ++i) permuted[i] = src_strides_[static_cast<int>(order[i])];
    return add(piece_of(dst_.shape, dst_strides_, permuted));
  }

  bool concat() {
    const int axis = positive_axis(context_.node.attributes.integer("axis", 0), dst_.shape.rank());
    std::int64_t at = 0;
    for (int i = 0; i < context_.input_count(); ++i) {
      if (is_post_operand(i)) break;
      const Shape& shape = context_.input(i).type.shape;
      const StorageView from = context_.input_storage(i);
      MovePiece piece = piece_of(shape, dst_strides_, from.strides);
      piece.input = i;
      piece.dst_offset = at * dst_strides_[axis];
      at += shape[axis];
      add_copy(std::move(piece), from, context_.output_storage(), shape);
    }
    return true;
  }

  bool split() {
    const int axis = positive_axis(context_.node.attributes.integer("axis", 0), src_.shape.rank());
    std::int64_t at = 0;
    for (std::size_t i = 0; i < context_.node.outputs.size(); ++i) {
      if (context_.node.outputs[i] == ValueId::kNone) return refuse("one of its outputs is omitted");
      const int output = static_cast<int>(i);
      const Shape& shape = context_.output(output).type.shape;
      const StorageView to = context_.output_storage(output);
      MovePiece piece = piece_of(shape, to.strides, src_strides_);
      piece.output = output;
      piece.src_offset = at * src_strides_[axis];
      at += shape[axis];
      add_copy(std::move(piece), context_.input_storage(0), to, shape);
    }
    return true;
  }

  bool slice() {
    const auto starts = integers(context_, 1);
    const auto axes = context_.has(3) ? integers(context_, 3) : Integers();
    const auto steps = context_.has(4) ? integers(context_, 4) : Integers();
    if (!starts || !axes || !steps) return refuse("its bounds are not constant");
    MovePiece piece = piece_of(dst_.shape, dst_strides_, src_strides_);
    for (std::size_t i = 0; i < starts->size(); ++i) {
      const int axis = axes->empty() ? static_cast<int>(i) : positive_axis((*axes)[i], src_.shape.rank());
      const std::int64_t step = steps->empty() ? 1 : (*steps)[i];
      const std::int64_t size = src_.shape[axis];
      std::int64_t start = (*starts)[i] < 0 ? (*starts)[i] + size : (*starts)[i];
      start = std::clamp<std::int64_t>(start, 0, step < 0 ? std::max<std::int64_t>(size - 1, 0) : size);
      piece.src_offset += start * src_strides_[axis];
      piece.loops[static_cast<std::size_t>(axis)].strides[1] = step * src_strides_[axis];
    }
    return add(std::move(piece));
  }

  bool expand() { return add(piece_of(dst_.shape, dst_strides_, broadcast_strides(src_, dst_.shape))); }

  /// A dimension becomes two: the repeats, with stride 0 in the source, and the original.
  bool tile() {
    MovePiece piece;
    for (int i = 0; i < src_.shape.rank(); ++i) {
      const std::int64_t size = src_.shape[i];
      const std::int64_t repeats = size == 0 ? 0 : dst_.shape[i] / size;
      piece.loops.push_back({.size = repeats, .strides = {dst_strides_[i] * size, 0}});
      piece.loops.push_back({.size = size, .strides = {dst_strides_[i], src_strides_[i]}});
    }
    return add(std::move(piece));
  }

  bool pad() {
    if (context_.node.attributes.text("mode", "constant") != "constant")
      return refuse("it pads by repeating the input");
    const auto pads = integers(context_, 1);
    const auto axes = context_.has(3) ? integers(context_, 3) : Integers();
    const bool constant_value = !context_.has(2) || context_.constant(2) != nullptr;
    if (!pads || !axes || !constant_value) return refuse("its pads are not constant");
    if (std::ranges::any_of(*pads, [](std::int64_t p) { return p < 0; })) return refuse("it crops");
    MovePiece piece = piece_of(src_.shape, dst_strides_, src_strides_);
    for (std::size_t i = 0; i < pads->size() / 2; ++i) {
      const int axis = axes->empty() ? static_cast<int>(i) : positive_axis((*axes)[i], src_.shape.rank());
      piece.dst_offset += (*pads)[i] * dst_strides_[axis];
    }
    plan.fill = MoveFill{0, bits_of(dst_.dtype) / 8};
    if (const Tensor* value = context_.constant(2); value != nullptr && value->bytes() != 0)
      std::memcpy(&plan.fill->bits, value->raw(), plan.fill->element_bytes);
    return add(std::move(piece));
  }

  /// MOVE: depth to space; else the reverse. The position in the block is the first (DCR) or last (CRD) part of a
  /// channel.
  bool blocks(bool to_space) {
    const std::int64_t block = context_.node.attributes.integer("blocksize", 1);
    const bool columns_first = context_.node.attributes.text("mode", "DCR") == "CRD";
    const TensorView& deep = to_space ? src_ : dst_;
    const TensorView& wide = to_space ? dst_ : src_;
    const Shape d = deep.strides();
    const Shape w = wide.strides();
    const std::int64_t channels = wide.shape[1];
    const std::int64_t deep_channel = columns_first ? block * block * d[1] : d[1];
    const std::int64_t deep_row = columns_first ? block * d[1] : block * channels * d[1];
    const std::int64_t deep_column = columns_first ? d[1] : channels * d[1];
    MovePiece piece;
    const auto loop = [&](std::int64_t size, std::int64_t in_deep, std::int64_t in_wide) {
      piece.loops.push_back({.size = size, .strides = {to_space ? in_wide : in_deep, to_space ? in_deep : in_wide}});
    };
    loop(deep.shape[0], d[0], w[0]);
    loop(channels, deep_channel, w[1]);
    loop(deep.shape[2], d[2], w[2] * block);
    loop(block, deep_row, w[2]);
    loop(deep.shape[3], d[3], w[3] * block);
    loop(block, deep_column, w[3]);
    return add(std::move(piece));
  }

  MovePlan plan;
  std::string why;

 private:
  bool add(MovePiece piece) {
    plan.pieces.push_back(std::move(piece));
    return true;
  }
  /// Of a part of SHAPE from a tensor at FROM to one at TO, unless it is where it is copied to.
  void add_copy(MovePiece piece, StorageView from, StorageView to, const Shape& shape) {
    from.offset += piece.src_offset;
    to.offset += piece.dst_offset;
    if (!same_storage(from, to, shape)) plan.pieces.push_back(std::move(piece));
  }
  bool refuse(std::string reason) {
    why = std::move(reason);
    return false;
  }
  bool is_post_operand(int i) const {
    return std::ranges::any_of(context_.node.post_ops, [&](const PostOp& post) { return post.operand == i; });
  }

  const NodeContext& context_;
  TensorView src_;
  TensorView dst_;
  Shape src_strides_;
  Shape dst_strides_;
};

using Plan = bool (*)(Planner&);

const std::map<std::string_view, Plan>& onnx_plans() {
  static const Plan reshape = [](Planner& planner) { return planner.reshape(); };
  static const std::map<std::string_view, Plan> plans = {
      {"Identity", [](Planner& planner) { return planner.identity(); }},
      {"Reshape", reshape},
      {"Flatten", reshape},
      {"Squeeze", reshape},
      {"Unsqueeze", reshape},
      {"Transpose", [](Planner& planner) { return planner.transpose(); }},
      {"Concat", [](Planner& planner) { return planner.concat(); }},
      {"Split", [](Planner& planner) { return planner.split(); }},
      {"Slice", [](Planner& planner) { return planner.slice(); }},
      {"Expand", [](Planner& planner) { return planner.expand(); }},
      {"Tile", [](Planner& planner) { return planner.tile(); }},
      {"Pad", [](Planner& planner) { return planner.pad(); }},
      {"DepthToSpace", [](Planner& planner) { return planner.blocks(true); }},
      {"SpaceToDepth", [](Planner& planner) { return planner.blocks(false); }},
  };
  return plans;
}

Plan plan_for(const Node& node) {
  if (node.is("Reorder", "saccade")) return [](Planner& planner) { return planner.identity(); };
  const auto found = onnx_plans().find(node.op);
  return node.domain.empty() && found != onnx_plans().end() ? found->second : nullptr;
}

}  // namespace

std::optional<MovePlan> plan_move(const NodeContext& context, Support& why) {
  const Plan plan = plan_for(context.node);
  if (plan == nullptr || !context.has(0)) {
    why = Support::other_operator("it does not only move elements");
    return std::nullopt;
  }
  const DType dtype = context.input(0).type.dtype;
  if (dtype == DType::kString || dtype == DType::kFrame || bits_of(dtype) % 8 != 0 || bits_of(dtype) > 64) {
    why = Support::no(fmt::format("its elements are {}", to_string(dtype)));
    return std::nullopt;
  }
  Planner planner(context);
  if (plan(planner)) return std::move(planner.plan);
  why = Support::no(planner.why);
  return std::nullopt;
}

bool moves_strided_operands(const Node& node) {
  // operator list: their copies follow the strides of their operands; the others assume dense tensors.
  static constexpr std::array<std::string_view, 5> kFollow{"Concat", "Identity", "Slice", "Split", "Transpose"};
  if (!node.post_ops.empty()) return false;
  return node.is("Reorder", "saccade") || (node.domain.empty() && std::ranges::find(kFollow, node.op) != kFollow.end());
}

void fill_elements(const MoveFill& fill, std::byte* data, std::size_t bytes) {
  const auto count = static_cast<std::int64_t>(bytes / fill.element_bytes);
  parallel_for(count, kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
    const auto size = static_cast<std::int64_t>(fill.element_bytes);
    if (fill.bits == 0)
      return static_cast<void>(std::memset(data + begin * size, 0, static_cast<std::size_t>((end - begin) * size)));
    if (size == 4)
      return std::fill(reinterpret_cast<std::uint32_t*>(data) + begin, reinterpret_cast<std::uint32_t*>(data) + end,
                       static_cast<std::uint32_t>(fill.bits));
    for (std::int64_t i = begin; i < end; ++i) std::memcpy(data + i * size, &fill.bits, fill.element_bytes);
  });
}

}  // namespace saccade::cpu
