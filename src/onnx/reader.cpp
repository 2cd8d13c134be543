#include "onnx/reader.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "onnx/functions.hpp"
#include "onnx/input_shapes.hpp"
#include "onnx/tensors.hpp"
#include "onnx/unsupported.hpp"

namespace saccade {
namespace {

// Far beyond real models; a small file can nest calls so that their bodies would fill any memory.
constexpr int kMaxCallDepth = 64;
constexpr std::size_t kMaxNodes = 1'000'000;

/// The names that one graph or one call of a function sees.
struct Scope {
  std::unordered_map<std::string, ValueId> values;
  OpsetVersions opsets;
  Arguments arguments;
  std::string prefix;  ///< of everything named here: the calling node's name and a slash
  int depth = 0;
};

class Reader {
 public:
  Reader(onnx::ModelProto& model, const ExternalData& external, const ImportOptions& options)
      : model_(model), external_(external), options_(options), functions_(model) {}

  RawGraph read();

 private:
  void add_inputs(Scope& scope);
  void add_initializers(Scope& scope);
  void add_outputs(Scope& scope);
  void add_node(Scope& scope, const onnx::NodeProto& node);
  void add_call(Scope& caller, const onnx::NodeProto& node, const onnx::FunctionProto& function,
                const std::string& name, const NamedAttributes& attributes);
  void add_operator(Scope& scope, const onnx::NodeProto& node, const std::string& name,
                    const NamedAttributes& attributes);
  void add_copy(ValueId from, ValueId to, const std::string& name);
  void check_all_defined() const;

  ValueId find(Scope& scope, const std::string& name);
  ValueId define(Scope& scope, const std::string& name);
  void set_constant(ValueId id, Tensor tensor);
  std::string unique_name(const Scope& scope, const onnx::NodeProto& node);

  onnx::ModelProto& model_;
  const ExternalData& external_;
  const ImportOptions& options_;
  Functions functions_;
  RawGraph raw_;
  UnsupportedOperators unsupported_;
  std::vector<bool> defined_;  // by ValueId: an input, a constant, or some node's output
  std::unordered_set<std::string> node_names_;
};

/// The value of that name; one that is not defined yet is expected to be: files need not be in order.
ValueId Reader::find(Scope& scope, const std::string& name) {
  if (name.empty()) return ValueId::kNone;
  const auto [found, is_new] = scope.values.try_emplace(name, ValueId::kNone);
  if (is_new) {
    found->second = raw_.graph.add_value(scope.prefix + name);
    defined_.push_back(false);
  }
  return found->second;
}

ValueId Reader::define(Scope& scope, const std::string& name) {
  const ValueId id = find(scope, name);
  if (id == ValueId::kNone) return id;
  if (defined_[static_cast<std::size_t>(id)])
    fail(ErrorCode::kInvalidFile, "the value '{}' is defined twice", raw_.graph.value(id).name);
  defined_[static_cast<std::size_t>(id)] = true;
  return id;
}

void Reader::set_constant(ValueId id, Tensor tensor) {
  if (id == ValueId::kNone) return;
  Value& value = raw_.graph.value(id);
  value.type = {tensor.dtype(), tensor.shape()};
  value.constant = std::move(tensor);
}

std::string Reader::unique_name(const Scope& scope, const onnx::NodeProto& node) {
  std::string wanted = node.name();
  if (wanted.empty()) wanted = node.output_size() != 0 ? node.output(0) : node.op_type();
  wanted = scope.prefix + wanted;
  std::string name = wanted;
  for (int i = 2; !node_names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

void Reader::add_inputs(Scope& scope) {
  // Files of IR 3 list initializers among the inputs, too.
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : model_.graph().initializer()) initializers.insert(tensor.name());
  for (const auto& sparse : model_.graph().sparse_initializer()) initializers.insert(sparse.values().name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : model_.graph().input())
    if (!initializers.contains(input.name())) inputs.push_back(&input);
  const InputShapes shapes(inputs, options_);
  raw_.shape_hint = shapes.hint();
  std::vector<ValueId> ids;
  for (const auto* input : inputs) {
    if (input->name().empty()) fail(ErrorCode::kInvalidFile, "an input has no name");
    ids.push_back(define(scope, input->name()));
    raw_.graph.value(ids.back()).type = shapes.type_of(*input);
  }
  raw_.graph.set_inputs(std::move(ids));
}

void Reader::add_initializers(Scope& scope) {
  for (auto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    if (tensor.name().empty()) fail(ErrorCode::kInvalidFile, "an initializer has no name");
    set_constant(define(scope, tensor.name()), read_tensor(tensor, external_));
    tensor.Clear();
  }
  for (const auto& sparse : model_.graph().sparse_initializer()) {
    if (sparse.values().name().empty()) fail(ErrorCode::kInvalidFile, "a sparse initializer has no name");
    set_constant(define(scope, sparse.values().name()), read_sparse_tensor(sparse, external_));
  }
}

void Reader::add_outputs(Scope& scope) {
  if (model_.graph().output().empty()) fail(ErrorCode::kInvalidFile, "the graph has no output");
  for (const auto& output : model_.graph().output()) {
    const ValueId id = find(scope, output.name());
    if (id == ValueId::kNone) fail(ErrorCode::kInvalidFile, "an output has no name");
    if (raw_.graph.is_output(id)) fail(ErrorCode::kInvalidFile, "the output '{}' is listed twice", output.name());
    raw_.graph.add_output(id);
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
      set_constant(define(scope, node.output(0)), read_constant(attributes, external_));
    } else {
      add_operator(scope, node, name, attributes);
    }
  } catch (const Error& error) {
    // The body's node is named already, by a name that holds the call's.
    if (functions_.find(node) != nullptr && std::string_view(error.what()).starts_with("node ")) throw;
    throw error.in(fmt::format("node '{}' ({})", name, node.op_type()));
  }
}

void Reader::add_operator(Scope& scope, const onnx::NodeProto& node, const std::string& name,
                          const NamedAttributes& attributes) {
  Node added{.domain = normal_domain(node.domain()), .op = node.op_type(), .name = name};
  for (const std::string& input : node.input()) added.inputs.push_back(find(scope, input));
  for (const std::string& output : node.output()) added.outputs.push_back(define(scope, output));
  if (added.outputs.empty()) fail(ErrorCode::kInvalidFile, "it has no output");
  const auto version = scope.opsets.find(added.domain);
  if (version == scope.opsets.end() && added.domain.empty())
    fail(ErrorCode::kInvalidFile, "the file names no version of ONNX's own operator set");
  const std::int64_t opset = version == scope.opsets.end() ? 1 : version->second;
  if (unsupported_.note(added, opset)) return;
  added.attributes = read_attributes(attributes, external_);
  raw_.graph.add_node(std::move(added));
  raw_.versions.push_back(opset);
}

void Reader::add_copy(ValueId from, ValueId to, const std::string& name) {
  raw_.graph.add_node({.op = "Identity", .name = name, .inputs = {from}, .outputs = {to}});
  raw_.versions.push_back(kNewestOpset);
}

/// A function's body in place of its call: inner names get the call's name in front, its inputs and outputs are the
/// caller's values.
void Reader::add_call(Scope& caller, const onnx::NodeProto& node, const onnx::FunctionProto& function,
                      const std::string& name, const NamedAttributes& attributes) {
  if (caller.depth == kMaxCallDepth)
    fail(ErrorCode::kInvalidFile, "the function '{}' calls itself, or calls are nested too deep", function.name());
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    fail(ErrorCode::kInvalidFile, "it has more inputs or outputs than the function '{}'", function.name());
  Scope inner{.values = {},
              .opsets = opset_versions(function.opset_import(), caller.opsets),
              .arguments = arguments_of(function, attributes),
              .prefix = name + "/",
              .depth = caller.depth + 1};
  check_opset(inner.opsets);
  for (int i = 0; i < function.input_size(); ++i) {
    const ValueId given = i < node.input_size() ? find(caller, node.input(i)) : ValueId::kNone;
    if (!inner.values.emplace(function.input(i), given).second)
      fail(ErrorCode::kInvalidFile, "the function '{}' has two inputs '{}'", function.name(), function.input(i));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    const ValueId wanted = define(caller, node.output(i));
    if (wanted == ValueId::kNone) continue;
    const auto [bound, is_new] = inner.values.emplace(function.output(i), wanted);
    // The body's node defines it; an output that the body only passes on is copied.
    if (is_new)
      defined_[static_cast<std::size_t>(wanted)] = false;
    else
      add_copy(bound->second, wanted, name + "/" + function.output(i));
  }
  for (const onnx::NodeProto& body : function.node()) add_node(inner, body);
}

void Reader::check_all_defined() const {
  const auto undefined = [&](ValueId id) { return id != ValueId::kNone && !defined_[static_cast<std::size_t>(id)]; };
  for (NodeId id : raw_.graph.order()) {
    const Node& node = raw_.graph.node(id);
    for (ValueId input : node.inputs)
      if (undefined(input))
        fail(ErrorCode::kInvalidFile, "node '{}' ({}) reads '{}', which nothing makes", node.name, node.op,
             raw_.graph.value(input).name);
  }
  for (ValueId output : raw_.graph.outputs())
    if (undefined(output))
      fail(ErrorCode::kInvalidFile, "nothing makes the output '{}'", raw_.graph.value(output).name);
}

RawGraph Reader::read() {
  raw_.graph.name = model_.graph().name();
  for (const auto& entry : model_.metadata_props()) raw_.graph.metadata[entry.key()] = entry.value();
  Scope scope{.values = {}, .opsets = opset_versions(model_.opset_import()), .arguments = {}, .prefix = {}};
  check_opset(scope.opsets);
  add_inputs(scope);
  for (const onnx::NodeProto& node : model_.graph().node()) add_node(scope, node);
  unsupported_.check();
  add_outputs(scope);
  add_initializers(scope);
  check_all_defined();
  return std::move(raw_);
}

}  // namespace

RawGraph read_graph(onnx::ModelProto& model, const ExternalData& external, const ImportOptions& options) {
  return Reader(model, external, options).read();
}

}  // namespace saccade
