#include "onnx/reader.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "onnx/functions.hpp"
#include "onnx/input_shapes.hpp"
#include "onnx/scope.hpp"
#include "onnx/tensors.hpp"
#include "onnx/unsupported.hpp"

namespace saccade {
namespace {

// Far beyond real models. Nested calls in a small file could expand to any size. Linear searches over inputs or outputs
// stay within seconds.
constexpr int kMaxCallDepth = 64;
constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxEdges = 4096;
// Every function call and sub-graph starts with the names that are passed to it.
constexpr std::size_t kMaxGivenNames = 5'000'000;

/// The attributes that hold NODE's sub-graphs, in the order of RawGraph::bodies.
std::span<const std::string_view> body_names(const onnx::NodeProto& node) {
  static constexpr std::array<std::string_view, 2> kIf = {"then_branch", "else_branch"};
  static constexpr std::array<std::string_view, 1> kLoop = {"body"};
  if (!normal_domain(node.domain()).empty()) return {};
  if (node.op_type() == "If") return kIf;
  if (node.op_type() == "Loop") return kLoop;
  return {};
}

const onnx::GraphProto& body_of(const NamedAttributes& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, [](const auto& attribute) { return attribute.first; });
  if (found == attributes.end() || !found->second->has_g())
    fail(ErrorCode::kInvalidFile, "it has no sub-graph '{}'", name);
  return found->second->g();
}

void check_edges(std::size_t inputs, int outputs) {
  if (std::max(inputs, static_cast<std::size_t>(outputs)) > kMaxEdges)
    fail(ErrorCode::kUnsupported, "graphs of more than {} inputs or outputs are not supported", kMaxEdges);
}

/// Every name that GRAPH defines; all other names refer to the enclosing graphs.
std::unordered_set<std::string> names_defined_in(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

class Reader {
 public:
  Reader(onnx::ModelProto& model, const TensorSource& source, const ImportOptions& options)
      : model_(model), source_(source), options_(options), functions_(model) {}

  RawGraph read();

 private:
  void add_inputs(Scope& scope);
  void add_initializers(Scope& scope);
  void add_sparse_initializers(Scope& scope, const onnx::GraphProto& graph);
  void add_outputs(Scope& scope);
  void add_node(Scope& scope, const onnx::NodeProto& node);
  void add_call(Scope& caller, const onnx::NodeProto& node, const onnx::FunctionProto& function,
                const std::string& name, const NamedAttributes& attributes);
  void add_operator(Scope& scope, const onnx::NodeProto& node, const std::string& name,
                    const NamedAttributes& attributes);
  void add_copy(Draft& draft, ValueId from, ValueId to, const std::string& name);
  RawGraph read_body(Scope& outer, const onnx::GraphProto& graph, const std::string& prefix);

  /// Throws Error (kUnsupported) if too many names are passed to all calls and sub-graphs together.
  void give_names(std::size_t count);
  static void set_constant(Scope& scope, const std::string& name, Tensor tensor);
  std::string unique_name(const Scope& scope, const onnx::NodeProto& node);

  onnx::ModelProto& model_;
  const TensorSource source_;
  const ImportOptions& options_;
  Functions functions_;
  UnsupportedOperators unsupported_;
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, int> copies_;  // of a node name that occurs several times
  std::size_t given_names_ = 0;
};

void Reader::give_names(std::size_t count) {
  given_names_ += count;
  if (given_names_ > kMaxGivenNames)
    fail(ErrorCode::kUnsupported,
         "the calls of functions and the sub-graphs up to here have more than {} inputs, attributes and operator sets "
         "together, which is not supported",
         kMaxGivenNames);
}

void Reader::set_constant(Scope& scope, const std::string& name, Tensor tensor) {
  const ValueId id = scope.define(name);
  if (id == ValueId::kNone) return;
  Value& value = scope.draft.raw.graph.value(id);
  value.type = {tensor.dtype(), tensor.shape()};
  value.constant = std::move(tensor);
}

std::string Reader::unique_name(const Scope& scope, const onnx::NodeProto& node) {
  std::string wanted = node.name();
  if (wanted.empty()) wanted = node.output_size() != 0 ? node.output(0) : node.op_type();
  source_.budget.take(2 * (scope.prefix.size() + wanted.size()));
  wanted = scope.prefix + wanted;
  std::string name = wanted;
  // All nodes may have the same name: each continues counting from the previous one.
  while (!node_names_.insert(name).second)
    name = fmt::format("{}_{}", wanted, ++copies_.try_emplace(wanted, 1).first->second);
  return name;
}

void Reader::add_inputs(Scope& scope) {
  const auto inputs = inputs_of(model_.graph());
  check_edges(inputs.size(), model_.graph().output_size());
  const InputShapes shapes(inputs, options_);
  RawGraph& raw = scope.draft.raw;
  raw.shape_hint = shapes.hint();
  std::vector<ValueId> ids;
  for (const auto* input : inputs) {
    if (input->name().empty()) fail(ErrorCode::kInvalidFile, "an input has no name");
    ids.push_back(scope.define(input->name()));
    raw.graph.value(ids.back()).type = shapes.type_of(*input);
  }
  raw.graph.set_inputs(std::move(ids));
}

void Reader::add_initializers(Scope& scope) {
  for (auto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    if (tensor.name().empty()) fail(ErrorCode::kInvalidFile, "an initializer has no name");
    set_constant(scope, tensor.name(), read_tensor(tensor, source_));
    // Clear() would keep the elements' memory.
    onnx::TensorProto().Swap(&tensor);
  }
  add_sparse_initializers(scope, model_.graph());
}

void Reader::add_sparse_initializers(Scope& scope, const onnx::GraphProto& graph) {
  for (const auto& sparse : graph.sparse_initializer()) {
    if (sparse.values().name().empty()) fail(ErrorCode::kInvalidFile, "a sparse initializer has no name");
    set_constant(scope, sparse.values().name(), read_sparse_tensor(sparse, source_));
  }
}

void Reader::add_outputs(Scope& scope) {
  if (model_.graph().output().empty()) fail(ErrorCode::kInvalidFile, "the graph has no output");
  Graph& graph = scope.draft.raw.graph;
  for (const auto& output : model_.graph().output()) {
    const ValueId id = scope.find(output.name());
    if (id == ValueId::kNone) fail(ErrorCode::kInvalidFile, "an output has no name");
    if (graph.is_output(id)) fail(ErrorCode::kInvalidFile, "the output '{}' is listed twice", output.name());
    graph.add_output(id);
  }
}

void Reader::add_node(Scope& scope, const onnx::NodeProto& node) {
  const std::string name = unique_name(scope, node);
  try {
    if (node_names_.size() > kMaxNodes)
      fail(ErrorCode::kUnsupported, "models of more than {} nodes are not supported", kMaxNodes);
    const NamedAttributes attributes = resolve_attributes(node, scope.arguments);
    if (const onnx::FunctionProto* function = functions_.find(node)) {
      add_call(scope, node, *function, name, attributes);
    } else if (node.op_type() == "Constant" && normal_domain(node.domain()).empty()) {
      if (node.output_size() != 1) fail(ErrorCode::kInvalidFile, "a Constant has one output");
      set_constant(scope, node.output(0), read_constant(attributes, source_));
    } else {
      add_operator(scope, node, name, attributes);
    }
  } catch (const Error& error) {
    // The error names an inner node already, whose name contains this one's.
    if (std::string_view(error.what()).starts_with("node ")) throw;
    throw error.in(fmt::format("node '{}' ({})", name, node.op_type()));
  }
}

void Reader::add_operator(Scope& scope, const onnx::NodeProto& node, const std::string& name,
                          const NamedAttributes& attributes) {
  Node added{.domain = normal_domain(node.domain()), .op = node.op_type(), .name = name};
  for (const std::string& input : node.input()) added.inputs.push_back(scope.find(input));
  for (const std::string& output : node.output()) added.outputs.push_back(scope.define(output));
  if (added.outputs.empty()) fail(ErrorCode::kInvalidFile, "it has no output");
  // An operator always produces its first output, used or not; a sub-graph may have no outputs.
  if (added.outputs[0] == ValueId::kNone && body_names(node).empty()) {
    added.outputs[0] = scope.draft.add_value(name);
    scope.draft.defined.back() = true;
  }
  const auto version = scope.opsets.find(added.domain);
  if (version == scope.opsets.end() && added.domain.empty())
    fail(ErrorCode::kInvalidFile, "the file names no version of ONNX's own operator set");
  const std::int64_t opset = version == scope.opsets.end() ? 1 : version->second;
  std::vector<RawGraph> bodies;
  for (std::string_view body : body_names(node)) {
    bodies.push_back(read_body(scope, body_of(attributes, body), fmt::format("{}/{}/", name, body)));
    const std::vector<ValueId>& captures = bodies.back().captures;
    added.inputs.insert(added.inputs.end(), captures.begin(), captures.end());
  }
  if (bodies.empty()) {
    if (unsupported_.note(added, opset)) return;
    if (added.domain.empty()) check_opset(added.op, opset);
    added.attributes = read_attributes(attributes, source_);
  }
  const NodeId id = scope.draft.add_node(std::move(added), opset);
  if (!bodies.empty()) scope.draft.raw.bodies.emplace(id, std::move(bodies));
}

RawGraph Reader::read_body(Scope& outer, const onnx::GraphProto& graph, const std::string& prefix) {
  if (outer.depth == kMaxCallDepth) fail(ErrorCode::kInvalidFile, "sub-graphs are nested too deeply");
  check_edges(static_cast<std::size_t>(graph.input_size()), graph.output_size());
  give_names(outer.opsets.size() + outer.arguments.size());
  Draft draft(source_.budget);
  Scope scope{.draft = draft,
              .values = {},
              .opsets = outer.opsets,
              .arguments = outer.arguments,
              .prefix = prefix,
              .depth = outer.depth + 1,
              .outer = &outer,
              .own = names_defined_in(graph)};
  std::vector<ValueId> inputs;
  for (const auto& input : graph.input()) {
    if (input.name().empty()) fail(ErrorCode::kInvalidFile, "an input of its sub-graph has no name");
    inputs.push_back(scope.define(input.name()));
  }
  for (const onnx::NodeProto& node : graph.node()) add_node(scope, node);
  for (const auto& tensor : graph.initializer()) set_constant(scope, tensor.name(), read_tensor(tensor, source_));
  add_sparse_initializers(scope, graph);
  for (const auto& output : graph.output()) {
    if (output.name().empty()) fail(ErrorCode::kInvalidFile, "an output of its sub-graph has no name");
    draft.raw.graph.add_output(scope.find(output.name()));
  }
  draft.check_all_defined();
  inputs.insert(inputs.end(), scope.captured_inputs.begin(), scope.captured_inputs.end());
  draft.raw.graph.set_inputs(std::move(inputs));
  draft.raw.captures = std::move(scope.captures);
  return std::move(draft.raw);
}

void Reader::add_copy(Draft& draft, ValueId from, ValueId to, const std::string& name) {
  draft.add_node({.op = "Identity", .name = name, .inputs = {from}, .outputs = {to}}, kNewestOpset);
}

/// Inlines a function's body in place of its call. Inner names are prefixed with the call's name; inputs and outputs
/// are the caller's values.
void Reader::add_call(Scope& caller, const onnx::NodeProto& node, const onnx::FunctionProto& function,
                      const std::string& name, const NamedAttributes& attributes) {
  if (caller.depth == kMaxCallDepth)
    fail(ErrorCode::kInvalidFile, "the function '{}' calls itself, or calls are nested too deeply", function.name());
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    fail(ErrorCode::kInvalidFile, "it has more inputs or outputs than the function '{}'", function.name());
  give_names(static_cast<std::size_t>(function.input_size()) + static_cast<std::size_t>(function.opset_import_size()) +
             static_cast<std::size_t>(function.attribute_proto_size()) + attributes.size() + caller.opsets.size());
  Scope inner{.draft = caller.draft,
              .values = {},
              .opsets = opset_versions(function.opset_import(), caller.opsets),
              .arguments = arguments_of(function, attributes),
              .prefix = name + "/",
              .depth = caller.depth + 1};
  for (int i = 0; i < function.input_size(); ++i) {
    const ValueId given = i < node.input_size() ? caller.find(node.input(i)) : ValueId::kNone;
    if (!inner.values.emplace(function.input(i), given).second)
      fail(ErrorCode::kInvalidFile, "the function '{}' has two inputs '{}'", function.name(), function.input(i));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    const ValueId wanted = caller.define(node.output(i));
    if (wanted == ValueId::kNone) continue;
    const auto [bound, is_new] = inner.values.emplace(function.output(i), wanted);
    // A node of the body defines it; an output that the body only forwards is copied.
    if (is_new)
      caller.draft.defined[static_cast<std::size_t>(wanted)] = false;
    else
      add_copy(caller.draft, bound->second, wanted, name + "/" + function.output(i));
  }
  for (const onnx::NodeProto& body : function.node()) add_node(inner, body);
}

RawGraph Reader::read() {
  Draft draft(source_.budget);
  draft.raw.graph.name = model_.graph().name();
  for (const auto& entry : model_.metadata_props()) draft.raw.graph.metadata[entry.key()] = entry.value();
  Scope scope{
      .draft = draft, .values = {}, .opsets = opset_versions(model_.opset_import()), .arguments = {}, .prefix = {}};
  add_inputs(scope);
  for (const onnx::NodeProto& node : model_.graph().node()) add_node(scope, node);
  unsupported_.check();
  add_outputs(scope);
  add_initializers(scope);
  draft.check_all_defined();
  return std::move(draft.raw);
}

}  // namespace

RawGraph read_graph(onnx::ModelProto& model, const TensorSource& source, const ImportOptions& options) {
  return Reader(model, source, options).read();
}

}  // namespace saccade
