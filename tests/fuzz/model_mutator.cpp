#include "model_mutator.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ops/core/op.hpp"

namespace saccade::fuzz {
namespace {

/// Limits the growth of models by duplicates.
constexpr int kMaxNodes = 64;

/// Pads or truncates TENSOR's raw bytes to match its dimensions, if that stays small.
void fit_bytes(onnx::TensorProto& tensor) {
  constexpr std::array<std::pair<int, int>, 10> kSizes = {
      {{1, 4}, {2, 1}, {3, 1}, {6, 4}, {7, 8}, {9, 1}, {10, 2}, {11, 8}, {12, 4}, {13, 8}}};
  const auto* size = std::ranges::find(kSizes, tensor.data_type(), &std::pair<int, int>::first);
  if (size == kSizes.end() || !tensor.has_raw_data()) return;
  std::int64_t bytes = size->second;
  for (std::int64_t dim : tensor.dims()) {
    if (dim < 0 || dim > 4096 || bytes > 4096) return;
    bytes *= dim;
  }
  if (bytes <= 4096) tensor.mutable_raw_data()->resize(static_cast<std::size_t>(bytes), '\x01');
}

}  // namespace

/// Sizes and indices: mostly small, sometimes at the edge of what a type can hold.
std::int64_t ModelMutator::number() {
  constexpr std::array<std::int64_t, 12> kEdges = {std::numeric_limits<std::int64_t>::min(),
                                                   std::numeric_limits<std::int64_t>::max(),
                                                   std::numeric_limits<std::int64_t>::min() + 1,
                                                   std::numeric_limits<std::int32_t>::max(),
                                                   std::numeric_limits<std::int32_t>::min(),
                                                   std::int64_t{1} << 32,
                                                   std::int64_t{1} << 40,
                                                   -1000,
                                                   1000,
                                                   65536,
                                                   -2,
                                                   0};
  if (once_in(4)) return kEdges[static_cast<std::size_t>(below(static_cast<int>(kEdges.size())))];
  return below(12) - 3;
}

float ModelMutator::real() {
  constexpr std::array<float, 9> kEdges = {0.F,
                                           -1.F,
                                           0.5F,
                                           1e-30F,
                                           1e30F,
                                           -1e30F,
                                           std::numeric_limits<float>::infinity(),
                                           -std::numeric_limits<float>::infinity(),
                                           std::numeric_limits<float>::quiet_NaN()};
  return kEdges[static_cast<std::size_t>(below(static_cast<int>(kEdges.size())))];
}

std::string ModelMutator::some_name(const onnx::GraphProto& graph) {
  std::vector<std::string> names = {"", "nowhere"};
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& tensor : graph.initializer()) names.push_back(tensor.name());
  for (const auto& node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  return names[static_cast<std::size_t>(below(static_cast<int>(names.size())))];
}

void ModelMutator::mutate(onnx::ModelProto& model) {
  for (int left = 1 + below(4); left > 0; --left) change(model);
}

void ModelMutator::join(onnx::ModelProto& model, const onnx::ModelProto& other) {
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const auto& node : other.graph().node())
    if (graph.node_size() < kMaxNodes) *graph.add_node() = node;
  for (const auto& tensor : other.graph().initializer())
    if (once_in(2)) *graph.add_initializer() = tensor;
}

void ModelMutator::change(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  switch (below(8)) {
    case 0: return change_nodes(graph);
    case 1: return change_edges(graph);
    case 2:
    case 3: return change_attributes(graph);
    case 4:
    case 5: return change_constants(graph);
    case 6: return change_inputs(graph);
    default:
      if (once_in(4) && model.opset_import_size() != 0)
        model.mutable_opset_import(0)->set_version(once_in(8) ? number() : 7 + below(20));
      else if (once_in(8))
        nest(graph);
      else
        change_attributes(graph);
  }
}

void ModelMutator::change_nodes(onnx::GraphProto& graph) {
  static const std::vector<const Op*> kOps = [] {
    std::vector<const Op*> ops = all_ops();
    std::erase_if(ops, [](const Op* op) { return op->domain == "saccade"; });  // refused in a file
    return ops;
  }();
  if (graph.node().empty()) return;
  const int at = below(graph.node_size());
  onnx::NodeProto& node = *graph.mutable_node(at);
  switch (below(5)) {
    case 0: graph.mutable_node()->DeleteSubrange(at, 1); return;
    case 1: graph.mutable_node()->SwapElements(at, below(graph.node_size())); return;
    case 2: {
      if (graph.node_size() >= kMaxNodes) return;
      onnx::NodeProto copy = node;
      for (std::string& output : *copy.mutable_output()) output += "'";
      *graph.add_node() = copy;
      graph.add_output()->set_name(copy.output_size() != 0 ? copy.output(0) : "");
      return;
    }
    default: {
      const Op* op = kOps[static_cast<std::size_t>(below(static_cast<int>(kOps.size())))];
      node.set_op_type(std::string(op->name));
      node.set_domain(std::string(op->domain));
    }
  }
}

void ModelMutator::change_edges(onnx::GraphProto& graph) {
  if (graph.node().empty()) return;
  onnx::NodeProto& node = *graph.mutable_node(below(graph.node_size()));
  const int inputs = node.input_size();
  switch (below(6)) {
    case 0: node.add_input(some_name(graph)); return;
    case 1:
      if (inputs != 0) node.mutable_input()->RemoveLast();
      return;
    case 2:
      if (inputs != 0) node.mutable_input()->SwapElements(below(inputs), below(inputs));
      return;
    case 3: node.add_output("new" + std::to_string(below(100))); return;
    default:
      if (inputs != 0) node.set_input(below(inputs), some_name(graph));
  }
}

void ModelMutator::change_attributes(onnx::GraphProto& graph) {
  if (graph.node().empty()) return;
  onnx::NodeProto& node = *graph.mutable_node(below(graph.node_size()));
  const int count = node.attribute_size();
  if (count == 0 || once_in(8)) {
    // From another node, whose attribute names the operator may share.
    const onnx::NodeProto& other = graph.node(below(graph.node_size()));
    if (other.attribute_size() != 0) *node.add_attribute() = other.attribute(below(other.attribute_size()));
    return;
  }
  const int at = below(count);
  if (once_in(8))
    node.mutable_attribute()->DeleteSubrange(at, 1);
  else
    change_value(*node.mutable_attribute(at));
}

void ModelMutator::change_value(onnx::AttributeProto& attribute) {
  using Proto = onnx::AttributeProto;
  if (once_in(12)) {
    attribute.set_type(static_cast<Proto::AttributeType>(below(15)));
    return;
  }
  switch (attribute.type()) {
    case Proto::INT: attribute.set_i(number()); return;
    case Proto::FLOAT: attribute.set_f(real()); return;
    case Proto::STRING: attribute.set_s(once_in(2) ? "" : attribute.s() + "x"); return;
    case Proto::TENSOR: return change_tensor(*attribute.mutable_t());
    case Proto::GRAPH:
      if (once_in(2)) return change_nodes(*attribute.mutable_g());
      return change_edges(*attribute.mutable_g());
    case Proto::FLOATS:
      if (attribute.floats_size() != 0 && !once_in(4))
        return attribute.set_floats(below(attribute.floats_size()), real());
      attribute.add_floats(real());
      return;
    default:
      if (attribute.ints_size() == 0 || once_in(6)) return attribute.add_ints(number());
      if (once_in(6)) return attribute.mutable_ints()->RemoveLast();
      attribute.set_ints(below(attribute.ints_size()), number());
  }
}

void ModelMutator::change_constants(onnx::GraphProto& graph) {
  if (graph.initializer().empty()) return;
  const int at = below(graph.initializer_size());
  if (once_in(16)) return graph.mutable_initializer()->DeleteSubrange(at, 1);
  change_tensor(*graph.mutable_initializer(at));
}

void ModelMutator::change_tensor(onnx::TensorProto& tensor) {
  const int rank = tensor.dims_size();
  switch (below(6)) {
    case 0: tensor.set_data_type(below(27)); break;
    case 1: tensor.add_dims(once_in(2) ? 1 : number()); break;
    case 2:
      if (rank != 0) tensor.mutable_dims()->RemoveLast();
      break;
    case 3:
      if (rank != 0) tensor.set_dims(below(rank), number());
      break;
    default: {
      // Changes its contents: sizes, axes and indices are 64-bit numbers, most others 32-bit.
      std::string& bytes = *tensor.mutable_raw_data();
      const std::int64_t value = number();
      const float scale = real();
      const int width = tensor.data_type() == onnx::TensorProto::INT64 ? 8 : 4;
      const int places = static_cast<int>(bytes.size()) / width;
      if (places == 0) break;
      const auto place = static_cast<std::size_t>(below(places) * width);
      const void* from = tensor.data_type() == onnx::TensorProto::FLOAT ? static_cast<const void*>(&scale) : &value;
      bytes.replace(place, static_cast<std::size_t>(width), static_cast<const char*>(from),
                    static_cast<std::size_t>(width));
      return;
    }
  }
  if (!once_in(6)) fit_bytes(tensor);
}

void ModelMutator::change_inputs(onnx::GraphProto& graph) {
  if (graph.input().empty()) return;
  onnx::TypeProto_Tensor& type = *graph.mutable_input(below(graph.input_size()))->mutable_type()->mutable_tensor_type();
  auto& dims = *type.mutable_shape()->mutable_dim();
  switch (below(6)) {
    case 0: type.set_elem_type(below(27)); return;
    case 1: dims.Add()->set_dim_value(number()); return;
    case 2:
      if (!dims.empty()) dims.RemoveLast();
      return;
    default:
      if (!dims.empty()) dims.at(below(dims.size())).set_dim_value(number());
  }
}

/// Moves the graph's last node into both branches of an If, or the body of a Loop.
void ModelMutator::nest(onnx::GraphProto& graph) {
  if (graph.node().empty()) return;
  onnx::NodeProto inner = graph.node(graph.node_size() - 1);
  onnx::NodeProto& node = *graph.mutable_node(graph.node_size() - 1);
  const bool loop = once_in(2);
  node.Clear();
  node.set_op_type(loop ? "Loop" : "If");
  for (int i = 0; i < (loop ? 2 : 1); ++i) node.add_input(some_name(graph));
  *node.mutable_output() = inner.output();
  for (const char* name : loop ? std::vector{"body"} : std::vector{"then_branch", "else_branch"}) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto& body = *attribute.mutable_g();
    if (loop)
      for (const char* input : {"iteration", "condition"}) body.add_input()->set_name(input);
    if (loop) body.add_output()->set_name("condition");
    *body.add_node() = inner;
    for (const std::string& output : inner.output()) body.add_output()->set_name(output);
  }
}

}  // namespace saccade::fuzz

namespace {

std::size_t write(const onnx::ModelProto& model, std::uint8_t* data, std::size_t size, std::size_t max_size) {
  const std::size_t bytes = model.ByteSizeLong();
  if (bytes > max_size || !model.SerializeToArray(data, static_cast<int>(max_size))) return size;
  return bytes;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) return LLVMFuzzerMutate(data, size, max_size);
  saccade::fuzz::ModelMutator(seed).mutate(model);
  return write(model, data, size, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed) {
  onnx::ModelProto model;
  onnx::ModelProto other;
  if (!model.ParseFromArray(first, static_cast<int>(first_size)) ||
      !other.ParseFromArray(second, static_cast<int>(second_size)))
    return 0;
  saccade::fuzz::ModelMutator(seed).join(model, other);
  return write(model, out, 0, max_size);
}
