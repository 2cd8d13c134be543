#include "runtime/tactic_choices.hpp"

#include <fmt/format.h>

#include <numeric>

#include "base/digest.hpp"
#include "runtime/storage_aliasing.hpp"

namespace saccade {
namespace {

// Longer integer constants are weights or tables, whose values do not affect the speed.
constexpr std::int64_t kShortConstant = 64;

// In elements; an offset that is a multiple is as good as 0.
constexpr std::int64_t kChosenAlignment = 16;

bool decides(const Tensor& constant) {
  const DType type = constant.dtype();
  return (type == DType::kInt32 || type == DType::kInt64) && constant.shape().elements() <= kShortConstant;
}

std::string describe(const Graph& graph, ValueId id, const StorageAliasing* storage) {
  if (id == ValueId::kNone) return "none;";
  const Value& value = graph.value(id);
  std::string text = fmt::format("{} {} {}", to_string(value.type.dtype), value.type.shape.to_string(),
                                 static_cast<int>(value.layout));
  if (const Tensor* constant = graph.constant(id)) {
    text += " constant";
    if (decides(*constant)) text += " " + digest({reinterpret_cast<const char*>(constant->raw()), constant->bytes()});
  }
  if (storage != nullptr && storage->is_aliased(id)) {
    const StorageView& place = storage->of(id);
    text += fmt::format(" {} apart, from a multiple of {}", place.strides.to_string(),
                        std::gcd(place.offset, kChosenAlignment));
  }
  return text + ";";
}

}  // namespace

std::string node_fingerprint(const Graph& graph, const Node& node, const StorageAliasing* storage) {
  std::string text = fmt::format("{}.{}(", node.domain, node.op);
  for (ValueId id : node.inputs) text += describe(graph, id, storage);
  text += ")(";
  for (ValueId id : node.outputs) text += describe(graph, id, storage);
  text += ")";
  for (const auto& [name, value] : node.attributes) text += fmt::format("{}={};", name, to_string(value));
  for (const PostOp& post : node.post_ops)
    text += fmt::format("{}({}, {}, {});", post.op, post.alpha, post.beta, post.operand);
  return digest(text);
}

}  // namespace saccade
