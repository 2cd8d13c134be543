#include "vision/attach.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "graph/patch.hpp"
#include "vision/attachment.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/cards/recognise.hpp"

namespace saccade {
namespace {

std::vector<std::int64_t> integers(const std::array<int, 3>& values) { return {values.begin(), values.end()}; }

Node preprocess_node(const Card& card, ValueId frame) {
  Node node{.domain = "saccade", .op = "Preprocess", .inputs = {frame}};
  Attributes& a = node.attributes;
  set_placement(a, card);
  a.set("interpolation", std::string(kInterpolationNames[static_cast<std::size_t>(card.interpolation)]));
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
  return node;
}

/// Replaces inputs for the image size by constants.
void bind_sizes(Graph& graph, const Card& card) {
  Patch patch(graph, "set the model's image size");
  const std::vector<ValueId> inputs(graph.inputs().begin(), graph.inputs().end());
  for (ValueId input : inputs)
    if (auto size = size_input(graph.value(input), card))
      patch.replace(input, patch.add_constant(graph.value(input).name + ".value", *std::move(size)));
  graph.apply(patch);
}

/// What attach_pixels() adds, by image.
struct AttachedPixels {
  std::vector<ValueId> frames;
  std::vector<ValueId> geometries;
};

/// Inserts preprocessing before the model.
AttachedPixels attach_pixels(Graph& graph, const Card& card, std::size_t images) {
  const ValueId image = find_value(graph, graph.inputs(), card.input);
  const TensorType wanted = graph.value(image).type;
  Fragment pre(graph, Stage::kPre);
  AttachedPixels attached;
  std::vector<ValueId> made;
  for (std::size_t i = 0; i < images; ++i) {
    attached.frames.push_back(graph.add_input(pre.unique("frame"), {DType::kFrame, {}}));
    const auto outputs = pre.add(preprocess_node(card, attached.frames.back()), {"pixels", "geometry"});
    made.push_back(outputs[0]);
    attached.geometries.push_back(outputs[1]);
  }
  ValueId pixels = images == 1 ? made[0] : pre.concat(std::move(made), 0);
  if (is_channels_last(with_batch(wanted.shape))) pixels = pre.transpose(pixels, {0, 2, 3, 1});
  pixels = pre.cast(pixels, wanted.dtype);
  if (wanted.shape.rank() == 3) pixels = pre.op("Squeeze", {pixels, pre.ints({0})});
  if (graph.value(pixels).type != wanted)
    fail(ErrorCode::kInvalidFile, "the card describes a tensor of {}, but the model's input '{}' is {}",
         graph.value(pixels).type.shape.to_string(), card.input, wanted.shape.to_string());
  Patch patch(graph, "feed frames to the model");
  patch.replace(image, pixels);
  graph.apply(patch);
  std::vector<ValueId> inputs = attached.frames;
  if (card.track) inputs.push_back(find_value(graph, graph.inputs(), card.track->input));
  graph.set_inputs(std::move(inputs));
  return attached;
}

}  // namespace

void check_postprocess(const PostprocessOptions& options) {
  constexpr int kMostDetections = 30000;
  const auto check_share = [](float value, const char* name) {
    if (!(value >= 0 && value <= 1))  // true for a NaN
      fail(ErrorCode::kInvalidArgument, "the {} threshold {} is not between 0 and 1", name, value);
  };
  check_share(options.confidence.value_or(0), "confidence");
  check_share(options.iou.value_or(0), "IoU");
  if (options.max_detections < 1 || options.max_detections > kMostDetections)
    fail(ErrorCode::kInvalidArgument, "the limit of {} detections per frame is not between 1 and {}",
         options.max_detections, kMostDetections);
  if (options.tracker) check_tracker_options(*options.tracker);
  if (options.top_k < 1)
    fail(ErrorCode::kInvalidArgument, "the limit of {} classes per frame is below 1", options.top_k);
}

PreprocessSpec preprocess_spec(const Card& card) {
  return preprocess_spec(preprocess_node(card, ValueId::kNone).attributes);
}

Graph attach_target(const Graph& model, const Card& card) {
  const TrackImages& track = card.track.value();
  Card crop = card;
  crop.input = track.input;
  crop.width = track.width;
  crop.height = track.height;
  crop.track.reset();
  Graph graph;
  const ValueId image = graph.add_input(track.input, model.value(find_value(model, model.inputs(), track.input)).type);
  graph.set_outputs({Fragment(graph, Stage::kPre).op("Identity", {image})});
  bind_sizes(graph, crop);
  attach_pixels(graph, crop, 1);
  return graph;
}

Attached attach(Graph model, const Card& card, const PostprocessOptions& options, std::size_t images) {
  check_postprocess(options);
  const std::vector<int> classes = find_classes(card, options.classes);
  bind_sizes(model, card);
  const ImageSlices slices(model, card, images);
  const AttachedPixels pixels = attach_pixels(model, card, images);
  Attached attached{.graph = {}, .outputs = {}, .images = images};
  OutputList outputs;
  for (std::size_t image = 0; image < images; ++image) {
    for (std::size_t i = 0; i < card.heads.size(); ++i) {
      Attachment to(model, card, options, classes, i, pixels.geometries[image], slices, image, outputs);
      card.heads[i].decoder->attach(to);
      if (image == 0) attached.outputs.heads.push_back(to.predictions);
    }
  }
  attached.outputs.tensors = outputs.set_on(model) / images;
  attached.graph = std::move(model);
  return attached;
}

}  // namespace saccade
