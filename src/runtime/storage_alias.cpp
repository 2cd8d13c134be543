#include "runtime/storage_alias.hpp"

#include "ops/core/index.hpp"
#include "ops/movement/slice.hpp"
#include "ops/movement/transpose.hpp"

namespace saccade {
namespace {

/// The strides of a tensor of shape FROM with STRIDES after it is reshaped to TO. Nullopt if a dimension of TO would
/// span a gap.
std::optional<Shape> reshaped_strides(const Shape& from, const Shape& strides, const Shape& to) {
  if (from.elements() == 0) return Shape::filled(to.rank(), 0);
  struct Run {
    std::int64_t size;
    std::int64_t step;
  };
  std::vector<Run> runs;  // contiguous dimensions, the innermost first
  for (int i = from.rank() - 1; i >= 0; --i) {
    if (from[i] == 1) continue;
    if (!runs.empty() && strides[i] == runs.back().size * runs.back().step)
      runs.back().size *= from[i];
    else
      runs.push_back({from[i], strides[i]});
  }
  Shape result = Shape::filled(to.rank(), 1);
  std::size_t run = 0;
  std::int64_t taken = 1;  // of the run
  for (int i = to.rank() - 1; i >= 0; --i) {
    if (to[i] == 1) continue;
    if (run < runs.size() && taken == runs[run].size) {
      ++run;
      taken = 1;
    }
    if (run == runs.size() || runs[run].size / taken % to[i] != 0) return {};
    result[i] = runs[run].step * taken;
    taken *= to[i];
  }
  return result;
}

std::optional<StorageView> moved(const StorageView& view, std::optional<Shape> strides) {
  if (!strides) return {};
  return StorageView{view.root, view.offset, *strides};
}

/// Whether a Transpose moves no element, for example between NHWC and a channels-last NCHW.
bool moves_nothing(const Node& transpose, const Value& from, const Value& to) {
  const Shape order = transpose_order(transpose.attributes, from.type.shape.rank());
  const Shape src = dense_strides(from.type.shape, from.layout);
  const Shape dst = dense_strides(to.type.shape, to.layout);
  for (int i = 0; i < order.rank(); ++i)
    if (to.type.shape[i] > 1 && dst[i] != src[static_cast<int>(order[i])]) return false;
  return true;
}

std::vector<StorageAlias> slice_aliases(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).type.shape;
  const auto ranges = slice_ranges(graph, node);
  if (!ranges) return {};
  StorageAlias alias{.base = node.inputs[0], .part = node.outputs[0]};
  for (int i = 0; i < shape.rank(); ++i) {
    const SliceRange& range = (*ranges)[static_cast<std::size_t>(i)];
    if (range.step < 0) return {};
    alias.first.push_back(range.start);
    alias.step.push_back(range.step);
  }
  return {alias};
}

/// PART is the block of BASE that begins at START along AXIS.
StorageAlias block(ValueId base, ValueId part, int rank, int axis, std::int64_t start) {
  StorageAlias alias{.base = base, .part = part, .first = Shape::filled(rank, 0), .step = Shape::filled(rank, 1)};
  alias.first[axis] = start;
  return alias;
}

std::vector<StorageAlias> split_aliases(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).type.shape;
  const int axis = axis_of(node.attributes, shape);
  std::vector<StorageAlias> aliases;
  std::int64_t start = 0;
  for (ValueId output : node.outputs) {
    if (output == ValueId::kNone) return {};  // its size is unknown
    aliases.push_back(block(node.inputs[0], output, shape.rank(), axis, start));
    start += graph.value(output).type.shape[axis];
  }
  return aliases;
}

std::vector<StorageAlias> concat_aliases(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.outputs[0]).type.shape;
  const int axis = axis_of(node.attributes, shape);
  std::vector<StorageAlias> aliases;
  std::int64_t start = 0;
  for (ValueId input : node.inputs) {
    aliases.push_back(block(node.outputs[0], input, shape.rank(), axis, start));
    start += graph.value(input).type.shape[axis];
  }
  return aliases;
}

}  // namespace

std::optional<std::int64_t> pixel_pitch(const Shape& shape, const StorageView& view) {
  if (shape[1] > 1 && view.strides[1] != 1) return {};
  std::int64_t pitch = 0;  // 0: unknown, only one pixel so far
  std::int64_t pixels = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (i == 1 || shape[i] == 1) continue;
    if (pitch == 0) pitch = view.strides[i];
    if (view.strides[i] != pitch * pixels) return {};
    pixels *= shape[i];
  }
  return pitch == 0 ? shape[1] : pitch;
}

bool same_storage(const StorageView& a, const StorageView& b, const Shape& shape) {
  if (a.root != b.root || a.offset != b.offset) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

std::optional<StorageView> StorageAlias::storage_of_part(const Graph& graph, const StorageView& view) const {
  const Shape& shape = graph.value(part).type.shape;
  if (kind == StorageAlias::Kind::kReshape)
    return moved(view, reshaped_strides(graph.value(base).type.shape, view.strides, shape));
  StorageView result = view;
  for (int i = 0; i < shape.rank(); ++i) {
    if (kind == StorageAlias::Kind::kTranspose) {
      result.strides[i] = view.strides[static_cast<int>(order[i])];
    } else {
      result.offset += first[i] * view.strides[i];
      result.strides[i] *= step[i];
    }
  }
  return result;
}

std::optional<StorageView> StorageAlias::storage_of_base(const Graph& graph, const StorageView& view) const {
  const Shape& shape = graph.value(base).type.shape;
  if (kind == StorageAlias::Kind::kReshape)
    return moved(view, reshaped_strides(graph.value(part).type.shape, view.strides, shape));
  StorageView result = view;
  for (int i = 0; i < shape.rank(); ++i) {
    if (kind == StorageAlias::Kind::kTranspose) {
      result.strides[static_cast<int>(order[i])] = view.strides[i];
    } else {
      if (view.strides[i] % step[i] != 0) return {};
      result.strides[i] /= step[i];
      result.offset -= first[i] * result.strides[i];
    }
  }
  return result;
}

std::vector<StorageAlias> storage_aliases(const Graph& graph, const Node& node) {
  if (!node.post_ops.empty() || node.outputs.empty() || node.inputs.empty()) return {};
  if (node.is("Slice")) return slice_aliases(graph, node);
  if (node.is("Split")) return split_aliases(graph, node);
  if (node.is("Concat")) return concat_aliases(graph, node);
  StorageAlias alias{.kind = StorageAlias::Kind::kReshape, .base = node.inputs[0], .part = node.outputs[0]};
  if (node.is("Transpose")) {
    alias.kind = StorageAlias::Kind::kTranspose;
    alias.order = transpose_order(node.attributes, graph.value(alias.base).type.shape.rank());
    return {alias};
  }
  return traits_of(node).is_view() ? std::vector{alias} : std::vector<StorageAlias>{};
}

bool is_free_view(const Graph& graph, const Node& node) {
  const bool transposes = node.is("Transpose");
  if (!(traits_of(node).is_view() || transposes) || !node.post_ops.empty()) return false;
  const Value& from = graph.value(node.inputs[0]);
  const Value& to = graph.value(node.outputs[0]);
  return transposes ? moves_nothing(node, from, to)
                    : lies_alike(from.type.shape, from.layout, to.type.shape, to.layout);
}

}  // namespace saccade
