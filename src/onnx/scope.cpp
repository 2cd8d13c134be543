#include "onnx/scope.hpp"

#include "base/error.hpp"

namespace saccade {
namespace {

// Far beyond real models: linear searches over the readers of a value stay within seconds.
constexpr std::uint32_t kMaxReaders = 1 << 16;

}  // namespace

ValueId Draft::add_value(std::string name) {
  budget.take(2 * name.size() + sizeof(Value));
  defined.push_back(false);
  readers.push_back(0);
  return raw.graph.add_value(std::move(name));
}

NodeId Draft::add_node(Node node, std::int64_t version) {
  for (ValueId input : node.inputs)
    if (input != ValueId::kNone && ++readers[static_cast<std::size_t>(input)] > kMaxReaders)
      fail(ErrorCode::kUnsupported, "'{}' is read more than {} times, which is not supported",
           raw.graph.value(input).name, kMaxReaders);
  raw.versions.push_back(version);
  return raw.graph.add_node(std::move(node));
}

void Draft::check_all_defined() const {
  const auto undefined = [&](ValueId id) { return id != ValueId::kNone && !defined[static_cast<std::size_t>(id)]; };
  for (NodeId id : raw.graph.order()) {
    const Node& node = raw.graph.node(id);
    for (ValueId input : node.inputs)
      if (undefined(input))
        fail(ErrorCode::kInvalidFile, "node '{}' ({}) reads '{}', which no node produces", node.name, node.op,
             raw.graph.value(input).name);
  }
  for (ValueId output : raw.graph.outputs())
    if (undefined(output))
      fail(ErrorCode::kInvalidFile, "no node produces the output '{}'", raw.graph.value(output).name);
}

ValueId Scope::find(const std::string& name) {
  if (name.empty()) return ValueId::kNone;
  if (const auto found = values.find(name); found != values.end()) return found->second;
  const ValueId id = outer != nullptr && !own.contains(name) ? capture(name) : draft.add_value(prefix + name);
  values.emplace(name, id);
  return id;
}

ValueId Scope::define(const std::string& name) {
  const ValueId id = find(name);
  if (id == ValueId::kNone) return id;
  if (draft.defined[static_cast<std::size_t>(id)])
    fail(ErrorCode::kInvalidFile, "the value '{}' is defined twice", draft.raw.graph.value(id).name);
  draft.defined[static_cast<std::size_t>(id)] = true;
  return id;
}

/// The input of the sub-graph that holds the outer value NAME; kNone if that is an omitted input of a function.
ValueId Scope::capture(const std::string& name) {
  const ValueId around = outer->find(name);
  if (around == ValueId::kNone) return around;
  const ValueId id = draft.add_value(prefix + name);
  draft.defined[static_cast<std::size_t>(id)] = true;
  captures.push_back(around);
  captured_inputs.push_back(id);
  return id;
}

}  // namespace saccade
