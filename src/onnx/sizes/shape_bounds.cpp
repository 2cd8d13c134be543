#include "onnx/sizes/shape_bounds.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/op.hpp"

namespace saccade {
namespace {

/// Makes open dimensions that broadcast agree: with a fixed one if there is one, else with the greatest.
void agree(const SizeQuery& q, Types& types) {
  int rank = 0;
  for (const TensorType& type : types) rank = std::max(rank, type.shape.rank());
  for (int from_end = 1; from_end <= rank; ++from_end) {
    std::int64_t fixed = 1;
    std::int64_t open = 0;
    const auto each = [&](auto visit) {
      for (std::size_t i = 0; i < types.size(); ++i) {
        const int axis = types[i].shape.rank() - from_end;
        if (is_given(q.node, i) && axis >= 0) visit(types[i].shape[axis], q.open[i][static_cast<std::size_t>(axis)]);
      }
    };
    each([&](std::int64_t size, bool is_open) {
      if (is_open)
        open = std::max(open, size);
      else if (size != 1)
        fixed = size;
    });
    each([&](std::int64_t& size, bool is_open) {
      if (is_open) size = fixed != 1 ? fixed : open;
    });
  }
}

Types infer_types(const SizeQuery& q, const Types& types, End end) {
  return infer_types_at(q, types, [end](int) { return end; });
}

/// With the greatest inputs. Open dimensions that must be equal may have different capacities: all get the largest.
Types infer_most(const SizeQuery& q) {
  Types types = inputs_at(q, End::kMost, 0);
  try {
    return infer_types(q, types, End::kMost);
  } catch (const Error&) {
    std::int64_t largest = 0;
    const auto each_open = [&](auto visit) {
      for (std::size_t i = 0; i < types.size(); ++i)
        for (int axis = 0; is_given(q.node, i) && axis < types[i].shape.rank(); ++axis)
          if (q.open[i][static_cast<std::size_t>(axis)]) visit(types[i].shape[axis]);
    };
    each_open([&](std::int64_t size) { largest = std::max(largest, size); });
    const Types as_they_are = types;
    each_open([&](std::int64_t& size) { size = largest; });
    if (types == as_they_are) throw;
    return infer_types(q, types, End::kMost);
  }
}

/// With the least inputs: of size 0, or of size 1 if the operator rejects empty inputs. Empty if it rejects both.
Types infer_least(const SizeQuery& q) {
  for (const std::int64_t least : {0, 1}) {
    try {
      return infer_types(q, inputs_at(q, End::kLeast, least), End::kLeast);
    } catch (const Error&) {  // the operator needs more elements
    }
  }
  return {};
}

}  // namespace

const Tensor* contents_at(const SizeQuery& q, std::size_t i, End end) {
  if (const Tensor* known = q.known.get(q.node.inputs[i])) return known;
  const Range* range = q.ranges.get(q.node.inputs[i]);
  if (range == nullptr) return nullptr;
  return end == End::kMost ? &range->most : &range->least;
}

Types inputs_at(const SizeQuery& q, End end, std::int64_t least) {
  Types types(q.node.inputs.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!is_given(q.node, i)) continue;
    types[i] = q.graph.value(q.node.inputs[i]).type;
    for (int axis = 0; axis < types[i].shape.rank(); ++axis)
      if (end == End::kLeast && q.open[i][static_cast<std::size_t>(axis)])
        types[i].shape[axis] = std::min(least, types[i].shape[axis]);
  }
  if (traits_of(q.node).elementwise == Elementwise::kBroadcast) agree(q, types);
  return types;
}

Types infer_types_at(const SizeQuery& q, const Types& types, const std::function<End(int)>& ends) {
  const Op* op = find_op(q.node.domain, q.node.op);
  std::vector<const TensorType*> inputs;
  for (std::size_t i = 0; i < types.size(); ++i) inputs.push_back(is_given(q.node, i) ? &types[i] : nullptr);
  InferContext context(
      q.node, std::move(inputs), [&](int i) { return contents_at(q, static_cast<std::size_t>(i), ends(i)); },
      [&](double steps) { return q.known.afford(steps); });
  op->infer(context);
  for (std::size_t i = 0; i < q.node.outputs.size(); ++i)
    if (q.node.outputs[i] != ValueId::kNone && !context.is_set(i))
      fail(ErrorCode::kInvalidFile, "the operator has no output {}", i);
  return context.outputs();
}

std::vector<Capacity> between(const Types& most, const Types& least) {
  std::vector<Capacity> capacities;
  for (std::size_t i = 0; i < most.size(); ++i) {
    Capacity capacity{most[i], std::vector<bool>(static_cast<std::size_t>(most[i].shape.rank()), true)};
    if (i < least.size() && least[i].shape.rank() == most[i].shape.rank())
      for (int axis = 0; axis < most[i].shape.rank(); ++axis)
        capacity.open[static_cast<std::size_t>(axis)] = least[i].shape[axis] != most[i].shape[axis];
    capacities.push_back(std::move(capacity));
  }
  return capacities;
}

std::vector<Capacity> capacities_by_shape_rule(const SizeQuery& q) { return between(infer_most(q), infer_least(q)); }

}  // namespace saccade
