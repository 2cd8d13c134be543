#include "graph/dot.hpp"

#include "base/error.hpp"
#include "base/printable.hpp"

namespace saccade {
namespace {

/// TEXT in quotes. Names may hold any bytes, and Graphviz rejects a file that is not UTF-8.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  const bool is_cut = text.size() > kLongest;
  std::string result = "\"";
  for (std::string_view rest = text.substr(0, kLongest); !rest.empty();) {
    const Glyph glyph = first_glyph(rest);
    const char first = rest.front();
    if (first == '\n')
      result += "\\n";
    else if (!glyph.is_printable)
      result += '?';
    else
      result += (first == '"' || first == '\\' ? "\\" : "") + std::string(rest.substr(0, glyph.bytes));
    rest.remove_prefix(glyph.bytes);
  }
  return result + (is_cut ? "...\"" : "\"");
}

std::string type_of(const Value& value) {
  return fmt::format("{} {}{}", to_string(value.type.dtype), value.type.shape.to_string(),
                     value.layout == Layout::kChannelsLast ? " nhwc" : "");
}

/// At most three lines: operator, name, constants.
std::string label(const Graph& graph, const Node& node) {
  std::string text = node.domain.empty() ? node.op : node.domain + "." + node.op;
  for (const PostOp& post : node.post_ops) text += " + " + post.op;
  text += "\n" + node.name.substr(0, 60);
  std::string constants;
  for (ValueId input : node.inputs)
    if (graph.constant(input) != nullptr && constants.size() < 40)
      constants += (constants.empty() ? "" : ", ") + type_of(graph.value(input));
  return constants.empty() ? text : text + "\n" + constants;
}

std::string edge(const Graph& graph, ValueId id, std::string_view to) {
  const Value& value = graph.value(id);
  const bool is_made = graph.producer(id) != nullptr;
  const auto from =
      is_made ? fmt::format("n{}", static_cast<int>(value.producer)) : fmt::format("v{}", static_cast<int>(id));
  return fmt::format("  {} -> {} [label={}];\n", from, to, quoted(type_of(value)));
}

std::string oval(std::string_view id, const Value& value) {
  return fmt::format("  {} [shape=oval, label={}];\n", id, quoted(value.name + "\n" + type_of(value)));
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text = fmt::format(
      "digraph {} {{\n  node [shape=box, fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      quoted(graph.name.empty() ? "graph" : graph.name));
  for (ValueId id : graph.inputs()) text += oval(fmt::format("v{}", static_cast<int>(id)), graph.value(id));
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto name = fmt::format("n{}", static_cast<int>(id));
    text += fmt::format("  {} [label={}];\n", name, quoted(label(graph, node)));
    for (ValueId input : node.inputs)
      if (input != ValueId::kNone && graph.constant(input) == nullptr) text += edge(graph, input, name);
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const ValueId id = graph.outputs()[i];
    const auto name = fmt::format("o{}", i);
    text += oval(name, graph.value(id));
    if (graph.constant(id) == nullptr) text += edge(graph, id, name);
  }
  return text + "}\n";
}

}  // namespace saccade
