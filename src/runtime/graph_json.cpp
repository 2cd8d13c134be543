#include "runtime/graph_json.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "graph/verify.hpp"
#include "ops/interpreter/infer.hpp"
#include "ops/interpreter/interpret.hpp"
#include "runtime/json_numbers.hpp"

namespace saccade {
namespace {

using Json = nlohmann::json;

// ---- to JSON ------------------------------------------------------------------------------------------------------

/// {"KIND": value}: the key distinguishes a list of integers from a list of floats with integral values.
struct AttributeWriter {
  TensorBlob& blob;
  Json operator()(std::int64_t value) const { return {{"i", value}}; }
  Json operator()(float value) const { return {{"f", value}}; }
  Json operator()(const std::string& value) const { return {{"s", value}}; }
  Json operator()(const std::vector<std::int64_t>& values) const { return {{"is", values}}; }
  Json operator()(const std::vector<float>& values) const { return {{"fs", values}}; }
  Json operator()(const std::vector<std::string>& values) const { return {{"ss", values}}; }
  Json operator()(const Tensor& value) const { return {{"t", blob.add(value)}}; }
  Json operator()(const std::shared_ptr<const Graph>& value) const { return {{"g", to_json(*value, blob)}}; }
};

Json node_json(const Node& node, const std::map<ValueId, int>& dense, TensorBlob& blob) {
  const auto ids = [&](const std::vector<ValueId>& values) {
    std::vector<int> result;
    for (ValueId id : values) result.push_back(id == ValueId::kNone ? -1 : dense.at(id));
    return result;
  };
  Json json{{"domain", node.domain},
            {"op", node.op},
            {"name", node.name},
            {"inputs", ids(node.inputs)},
            {"outputs", ids(node.outputs)},
            {"stage", static_cast<int>(node.stage)}};
  for (const auto& [name, value] : node.attributes) json["attributes"][name] = std::visit(AttributeWriter{blob}, value);
  for (const PostOp& post : node.post_ops)
    json["post_ops"].push_back(
        {{"op", post.op}, {"alpha", post.alpha}, {"beta", post.beta}, {"operand", post.operand}});
  return json;
}

Json value_json(const Value& value, TensorBlob& blob) {
  Json json{{"name", value.name},
            {"dtype", static_cast<int>(value.type.dtype)},
            {"shape", shape_json(value.type.shape)},
            {"layout", static_cast<int>(value.layout)}};
  if (value.constant) json["constant"] = blob.add(*value.constant);
  if (const auto& quantization = value.quantization)
    json["quantization"] = {
        {"scale", quantization->scale}, {"zero_point", quantization->zero_point}, {"axis", quantization->axis}};
  return json;
}

// ---- from JSON ----------------------------------------------------------------------------------------------------

/// What is read beside a graph's JSON.
struct Constants {
  StoredTensors& stored;
  MemoryBudget& budget;
};

Graph graph_from(const Json& json, Constants& constants);

Attribute attribute_from(const Json& json, Constants& constants) {
  if (!json.is_object() || json.size() != 1) fail(ErrorCode::kInvalidFile, "an attribute has not one value");
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "i") return integers_from<std::int64_t>(Json::array({value})).front();
  if (kind == "f") return value.get<float>();
  if (kind == "s") return value.get<std::string>();
  if (kind == "is") return integers_from<std::int64_t>(value);
  if (kind == "fs") return value.get<std::vector<float>>();
  if (kind == "ss") return value.get<std::vector<std::string>>();
  if (kind == "t") return constants.stored.tensor(value);
  if (kind == "g") return std::make_shared<const Graph>(graph_from(value, constants));
  fail(ErrorCode::kInvalidFile, "an attribute of unknown kind '{}'", kind);
}

ValueId id_from(const Json& json, const Graph& graph, bool may_be_none) {
  const int id = int_from(json);
  if (id == -1 && may_be_none) return ValueId::kNone;
  if (id < 0 || static_cast<std::size_t>(id) >= graph.value_count())
    fail(ErrorCode::kInvalidFile, "there is no value {}", id);
  return static_cast<ValueId>(id);
}

Node node_from(const Json& json, const Graph& graph, Constants& constants) {
  Node node{.domain = json.at("domain"), .op = json.at("op"), .name = json.at("name")};
  for (const Json& id : json.at("inputs")) node.inputs.push_back(id_from(id, graph, true));
  for (const Json& id : json.at("outputs")) node.outputs.push_back(id_from(id, graph, true));
  node.stage = enum_from(json.at("stage"), Stage::kPost);
  if (json.contains("attributes"))
    for (const auto& [name, value] : json.at("attributes").items())
      node.attributes.set(name, attribute_from(value, constants));
  if (json.contains("post_ops")) {
    for (const Json& post : json.at("post_ops")) {
      node.post_ops.push_back({post.at("op"), post.at("alpha"), post.at("beta"), int_from(post.at("operand"))});
      const int operand = node.post_ops.back().operand;
      if (operand < -1 || operand >= static_cast<int>(node.inputs.size()))
        fail(ErrorCode::kInvalidFile, "node '{}': a post-op reads input {}", node.name, operand);
    }
  }
  return node;
}

std::vector<Extent> extents_from(const Json& json) {
  std::vector<Extent> extents;
  // A negative number is not an output, like the largest one.
  const auto output = [](const Json& number) { return static_cast<std::size_t>(int_from(number)); };
  for (const Json& extent : json)
    extents.push_back({output(extent.at("output")), int_from(extent.at("axis")), output(extent.at("count"))});
  return extents;
}

void add_value(Graph& graph, const Json& json, Constants& constants) {
  const std::string name = json.at("name");
  ValueId id;
  if (json.contains("constant")) {
    id = graph.add_constant(name, constants.stored.tensor(json.at("constant")));
  } else {
    id = graph.add_value(name, {enum_from(json.at("dtype"), DType::kFrame), shape_from(json.at("shape"))});
  }
  Value& value = graph.value(id);
  bytes_of(value.type.dtype, value.type.shape);
  value.layout = enum_from(json.at("layout"), Layout::kChannelsLast);
  if (json.contains("quantization")) {
    const Json& quantization = json.at("quantization");
    value.quantization =
        Quantization{quantization.at("scale"), integers_from<std::int32_t>(quantization.at("zero_point")),
                     int_from(quantization.at("axis"))};
  }
}

/// A graph that is invalid because the file is damaged is not an internal error.
void check(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidFile, error.what());
  }
}

/// Checks that need inferred types.
void check_types(const Graph& graph) {
  for (NodeId id : graph.order()) check_post_ops(graph, graph.node(id));
  for (ValueId id : graph.outputs())
    if (graph.value(id).type.dtype == DType::kFrame)
      fail(ErrorCode::kInvalidFile, "the output '{}' is a frame", graph.value(id).name);
}

/// The graph, or the body of a node.
Graph graph_from(const Json& json, Constants& constants) {
  Graph graph;
  graph.name = json.at("name");
  graph.metadata = json.at("metadata").get<std::map<std::string, std::string>>();
  for (const Json& value : json.at("values")) add_value(graph, value, constants);
  const auto ids = [&](const char* key) {
    std::vector<ValueId> result;
    if (json.contains(key))
      for (const Json& id : json.at(key)) result.push_back(id_from(id, graph, false));
    return result;
  };
  graph.set_inputs(ids("inputs"));
  graph.set_outputs(ids("outputs"));
  if (json.contains("extents")) graph.set_extents(extents_from(json.at("extents")));
  for (const Json& node : json.at("nodes")) graph.add_node(node_from(node, graph, constants));
  // Before inference, because shape rules may run kernels; and after it, because the file's types are not trusted.
  check(graph);
  infer_types(graph, &constants.budget);
  check(graph);
  check_types(graph);
  return graph;
}

}  // namespace

Json to_json(const Graph& graph, TensorBlob& blob) {
  std::map<ValueId, int> dense;
  Json values = Json::array();
  const auto keep = [&](ValueId id) {
    if (id == ValueId::kNone || !dense.emplace(id, static_cast<int>(values.size())).second) return;
    values.push_back(value_json(graph.value(id), blob));
  };
  const std::vector<NodeId> order = graph.order();
  for (ValueId id : graph.inputs()) keep(id);
  for (NodeId node : order) {
    for (ValueId id : graph.node(node).inputs) keep(id);
    for (ValueId id : graph.node(node).outputs) keep(id);
  }
  for (ValueId id : graph.outputs()) keep(id);
  Json nodes = Json::array();
  for (NodeId node : order) nodes.push_back(node_json(graph.node(node), dense, blob));
  Json json{{"name", graph.name}, {"metadata", graph.metadata}, {"values", values}, {"nodes", nodes}};
  for (ValueId id : graph.inputs()) json["inputs"].push_back(dense.at(id));
  for (ValueId id : graph.outputs()) json["outputs"].push_back(dense.at(id));
  for (const Extent& extent : graph.extents())
    json["extents"].push_back({{"output", extent.output}, {"axis", extent.axis}, {"count", extent.count}});
  return json;
}

Graph graph_from_json(const Json& json, StoredTensors& stored, MemoryBudget& budget) {
  Constants constants{stored, budget};
  return graph_from(json, constants);
}

}  // namespace saccade
