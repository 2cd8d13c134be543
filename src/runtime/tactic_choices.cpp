#include "runtime/tactic_choices.hpp"

#include <fmt/format.h>

#include <numeric>

#include "base/digest.hpp"
#include "runtime/placement.hpp"

namespace saccade {
namespace {

// Longer constants of integers are weights or tables, whose elements change nothing of how they are worked on.
constexpr std::int64_t kShortConstant = 64;

// Elements; what begins at a multiple of so many can be read as if it began its memory.
constexpr std::int64_t kChosenAlignment = 16;

bool decides(const Tensor& constant) {
  const DType type = constant.dtype();
  return (type == DType::kInt32 || type == DType::kInt64) && constant.shape().elements() <= kShortConstant;
}

std::string describe(const Graph& graph, ValueId id, const Places* places) {
  if (id == ValueId::kNone) return "none;";
  const Value& value = graph.value(id);
  std::string text = fmt::format("{} {} {}", to_string(value.type.dtype), value.type.shape.to_string(),
                                 static_cast<int>(value.layout));
  if (const Tensor* constant = graph.constant(id)) {
    text += " constant";
    if (decides(*constant)) text += " " + digest({reinterpret_cast<const char*>(constant->raw()), constant->bytes()});
  }
  if (places != nullptr && places->has_moved(id)) {
    const Place& place = places->of(id);
    text += fmt::format(" {} apart, from a multiple of {}", place.strides.to_string(),
                        std::gcd(place.offset, kChosenAlignment));
  }
  return text + ";";
}

}  // namespace

std::string node_fingerprint(const Graph& graph, const Node& node, const Places* places) {
  std::string text = fmt::format("{}.{}(", node.domain, node.op);
  for (ValueId id : node.inputs) text += describe(graph, id, places);
  text += ")(";
  for (ValueId id : node.outputs) text += describe(graph, id, places);
  text += ")";
  for (const auto& [name, value] : node.attributes) text += fmt::format("{}={};", name, to_string(value));
  for (const PostOp& post : node.post_ops)
    text += fmt::format("{}({}, {}, {});", post.op, post.alpha, post.beta, post.operand);
  return digest(text);
}

}  // namespace saccade
