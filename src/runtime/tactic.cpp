#include "runtime/tactic.hpp"

#include <algorithm>

#include "runtime/storage_aliasing.hpp"
#include "tensor/view.hpp"

namespace saccade {

StorageView NodeContext::storage_of(ValueId id) const {
  if (storage != nullptr) return storage->of(id);
  const Value& value = graph.value(id);
  return {.root = id, .strides = dense_strides(value.type.shape, value.layout)};
}

bool NodeContext::has_aliased_operands() const {
  const auto aliased = [&](ValueId id) {
    return storage != nullptr && id != ValueId::kNone && storage->is_aliased(id);
  };
  return std::ranges::any_of(node.inputs, aliased) || std::ranges::any_of(node.outputs, aliased);
}

Tensor NodeContext::pack_constant(int i, std::string_view layout, DType dtype, std::int64_t elements,
                                  const std::function<void(Tensor&)>& pack) const {
  if (budget != nullptr) budget->take(bytes_of(dtype, Shape{elements}));
  if (packed != nullptr) return packed->get(packed_key(*constant(i), layout), dtype, elements, pack);
  Tensor tensor(dtype, Shape{elements});
  pack(tensor);
  return tensor;
}

bool has_kernel(const Backend& backend, const Graph& graph, const Node& node) {
  return std::ranges::any_of(backend.tactics(), [&](const Tactic* tactic) {
    return tactic->competes() && tactic->supports({graph, node}).yes;
  });
}

}  // namespace saccade
