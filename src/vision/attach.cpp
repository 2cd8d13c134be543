#include "vision/attach.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "graph/patch.hpp"
#include "ops/infer.hpp"
#include "ops/values.hpp"
#include "vision/card_file.hpp"
#include "vision/recognise.hpp"

namespace saccade {
namespace {

/// Adds nodes of one stage to a graph, with their types.
class Fragment {
 public:
  Fragment(Graph& graph, Stage stage) : graph_(graph), stage_(stage) {}

  /// OUTPUTS are names; an empty one is not asked for. Names that the model uses already get a number.
  std::vector<ValueId> add(Node node, const std::vector<std::string>& outputs) {
    node.stage = stage_;
    node.name = fmt::format("{}/{}", to_string(stage_), node.op);
    for (const std::string& output : outputs)
      node.outputs.push_back(output.empty() ? ValueId::kNone : graph_.add_value(unique(output)));
    KnownValues known(graph_);
    const std::vector<TensorType> types = infer_node(graph_, node, known);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (node.outputs[i] != ValueId::kNone) graph_.value(node.outputs[i]).type = types[i];
    std::vector<ValueId> made = node.outputs;
    graph_.add_node(std::move(node));
    return made;
  }

  ValueId cast(ValueId value, DType to, const std::string& name) {
    if (graph_.value(value).type.dtype == to) return value;
    Node node{.op = "Cast", .inputs = {value}};
    node.attributes.set("to", onnx_of_dtype(to));
    return add(std::move(node), {name})[0];
  }

  std::string unique(const std::string& wanted) const {
    const auto taken = [&](const std::string& name) {
      for (std::size_t i = 0; i < graph_.value_count(); ++i)
        if (graph_.value(static_cast<ValueId>(i)).name == name) return true;
      return false;
    };
    std::string name = wanted;
    for (int i = 2; taken(name); ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

 private:
  Graph& graph_;
  Stage stage_;
};

std::vector<std::int64_t> integers(const std::array<int, 3>& values) { return {values.begin(), values.end()}; }

Node preprocess_node(const Card& card, ValueId frame) {
  Node node{.domain = "saccade", .op = "Preprocess", .inputs = {frame}};
  Attributes& a = node.attributes;
  a.set("width", std::int64_t{card.width});
  a.set("height", std::int64_t{card.height});
  a.set("resize", std::string(kResizeNames[static_cast<std::size_t>(card.resize)]));
  if (card.resize == ResizeMode::kResizeCrop) a.set("resize_to", std::int64_t{card.resize_to});
  a.set("color", std::string(kColorNames[static_cast<std::size_t>(card.color)]));
  a.set("pad", integers(card.pad));
  std::vector<float> scale;
  std::vector<float> bias;
  for (std::size_t c = 0; c < 3; ++c) {
    scale.push_back(card.scale / card.std[c]);
    bias.push_back(-card.mean[c] / card.std[c]);
  }
  a.set("scale", scale);
  a.set("bias", bias);
  if (card.roi) a.set("roi", std::vector<std::int64_t>{card.roi->x, card.roi->y, card.roi->width, card.roi->height});
  return node;
}

ValueId find_value(const Graph& graph, std::span<const ValueId> among, const std::string& name) {
  const auto found = std::ranges::find_if(among, [&](ValueId id) { return graph.value(id).name == name; });
  if (found == among.end())
    fail(ErrorCode::kInvalidArgument, "the model has no '{}' among its inputs and outputs", name);
  return *found;
}

/// Puts pixels before the model; returns the geometry, or kNone where nobody asks for it.
ValueId attach_pixels(Graph& graph, const Card& card) {
  const ValueId image = find_value(graph, graph.inputs(), card.input);
  const TensorType wanted = graph.value(image).type;
  Fragment pre(graph, Stage::kPre);
  const ValueId frame = graph.add_input(pre.unique("frame"), {DType::kFrame, {}});
  const bool detects = card.task() == Task::kDetect;
  const auto made = pre.add(preprocess_node(card, frame), {"pixels", detects ? "geometry" : ""});
  ValueId pixels = made[0];
  if (is_channels_last(wanted.shape)) {
    Node node{.op = "Transpose", .inputs = {pixels}};
    node.attributes.set("perm", std::vector<std::int64_t>{0, 2, 3, 1});
    pixels = pre.add(std::move(node), {"pixels.channels_last"})[0];
  }
  pixels = pre.cast(pixels, wanted.dtype, "pixels.cast");
  if (graph.value(pixels).type != wanted)
    fail(ErrorCode::kInvalidFile, "the card makes a tensor of {}, but the model's input '{}' is {}",
         graph.value(pixels).type.shape.to_string(), card.input, wanted.shape.to_string());
  Patch patch(graph, "feed frames to the model");
  patch.replace(image, pixels);
  graph.apply(patch);
  graph.set_inputs({frame});
  return made[1];
}

void check(const PostOptions& options) {
  const auto share = [](float value, const char* name) {
    if (!(value >= 0 && value <= 1))
      fail(ErrorCode::kInvalidArgument, "the {} threshold is {}; it must lie in 0..1", name, value);
  };
  share(options.conf, "confidence");
  share(options.iou, "IoU");
  if (options.max_det < 1 || options.max_det > 30000)
    fail(ErrorCode::kInvalidArgument, "max-det is {}; it must lie in 1..30000", options.max_det);
  if (options.top_k < 1) fail(ErrorCode::kInvalidArgument, "top-k is {}; it must be at least 1", options.top_k);
}

/// A bool a class: asked for or not.
ValueId class_filter(Graph& graph, const Fragment& post, const Card& card, const std::vector<int>& classes) {
  Tensor allowed(DType::kBool, {static_cast<std::int64_t>(card.labels.size())});
  std::ranges::fill(allowed.data<bool>(), false);
  for (int id : classes) {
    if (id < 0 || static_cast<std::size_t>(id) >= card.labels.size())
      fail(ErrorCode::kInvalidArgument, "the model has no class {}; it has {} of them", id, card.labels.size());
    allowed.data<bool>()[static_cast<std::size_t>(id)] = true;
  }
  return graph.add_constant(post.unique("classes"), std::move(allowed));
}

Node decoder_node(const Card& card, const PostOptions& options) {
  Node node{.domain = "saccade", .op = std::string(card.decoder->op)};
  node.attributes.set("conf", options.conf);
  node.attributes.set("multi_label", std::int64_t{options.multi_label.value_or(card.multi_label)});
  if (card.decoder->attributes != nullptr) card.decoder->attributes(card, node.attributes);
  return node;
}

void attach_boxes(Graph& graph, const Card& card, const PostOptions& options, ValueId output, ValueId geometry) {
  Fragment post(graph, Stage::kPost);
  Node decoder = decoder_node(card, options);
  decoder.inputs = {post.cast(output, DType::kFloat32, "predictions")};
  if (!options.classes.empty()) decoder.inputs.push_back(class_filter(graph, post, card, options.classes));
  std::vector<ValueId> candidates =
      post.add(std::move(decoder), {"candidates.boxes", "candidates.scores", "candidates.classes", "candidates.count"});
  candidates.push_back(geometry);
  Node select{.domain = "saccade", .op = "SelectBoxes", .inputs = std::move(candidates)};
  // Boxes that the model chose itself are taken as they are: no overlap exceeds 1.
  select.attributes.set("iou", card.decoder->selects_itself ? 1.0F : options.iou);
  select.attributes.set("max_det", std::int64_t{options.max_det});
  select.attributes.set("agnostic", std::int64_t{options.agnostic});
  const auto answers = post.add(std::move(select), {"detections", "detections.count", "detections.order"});
  graph.set_outputs({answers[0], answers[1]});
}

void attach_classes(Graph& graph, const Card& card, const PostOptions& options, ValueId output) {
  Fragment post(graph, Stage::kPost);
  Node top{.domain = "saccade",
           .op = std::string(card.decoder->op),
           .inputs = {post.cast(output, DType::kFloat32, "scores")}};
  top.attributes.set("k", std::int64_t{options.top_k});
  top.attributes.set("softmax", std::int64_t{card.softmax});
  graph.set_outputs({post.add(std::move(top), {"classes"})[0]});
}

}  // namespace

Graph attach(Graph model, const Card& card, const PostOptions& options) {
  check(options);
  const ValueId output = find_value(model, model.outputs(), card.output);
  const ValueId geometry = attach_pixels(model, card);
  if (card.task() == Task::kDetect)
    attach_boxes(model, card, options, output, geometry);
  else
    attach_classes(model, card, options, output);
  return model;
}

}  // namespace saccade
