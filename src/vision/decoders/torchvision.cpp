#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "vision/decoders/chosen.hpp"
#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// torchvision's detectors: boxes float [N, 4] (corners in pixels), scores float [N] and labels int64 [N], of which 0 is
// the background. Mask R-CNN also has masks float [N, 1, h, w], probabilities: of the size of the image if the model
// pasted them into it, otherwise small, square and relative to their boxes. The exporter numbers the outputs unless
// given names, so they are identified by type and shape.
namespace saccade {
namespace {

/// The only readable output whose type FITS accepts; null: none or several.
template <typename Fits>
const Value* only(const Graph& graph, const Head& head, const Fits& fits) {
  const Value* found = nullptr;
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    if (std::ranges::count(graph.data_outputs(), output) == 0 || !fits(value.type.dtype, value.type.shape)) continue;
    if (found != nullptr) return nullptr;
    found = &value;
  }
  return found;
}

/// The number of classes, background included, of the last OP: a Softmax over [regions, C] or [1, cells, C], or the
/// Sigmoid of a one-stage detector over [cells, C]. 0: none.
std::int64_t classes_by(const Graph& graph, std::string_view op) {
  std::int64_t classes = 0;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.is(op)) continue;
    const Shape& shape = graph.value(node.outputs[0]).type.shape;
    const bool is_rows = (shape.rank() == 2 && shape[0] > 1) || (op == "Softmax" && is_list(shape));
    if (is_rows && shape.back() > 1) classes = shape.back();
  }
  return classes;
}

/// Labels may omit the background. False if they, or the card's map, contradict the model's number of classes.
bool resolve_classes(const Graph& graph, Head& head) {
  std::int64_t from_scores = classes_by(graph, "Softmax");
  if (from_scores == 0) from_scores = classes_by(graph, "Sigmoid");
  if (from_scores > kMostClasses) return false;
  const std::int64_t labels = std::ssize(head.labels);
  if (head.remap.empty() && labels > 0 && labels + 1 == from_scores)
    for (int i = -1; i < labels; ++i) head.remap.push_back(i);
  const std::int64_t from_card = head.remap.empty() ? labels : std::ssize(head.remap);
  if (from_card != 0 && from_scores != 0 && from_card != from_scores) return false;
  head.classes = static_cast<int>(from_card != 0 ? from_card : from_scores);
  if (head.classes == kCocoNumbers) remap_coco_categories(head, 0);
  return true;
}

/// Boxes, scores and labels of as many rows each, in this order.
bool fit(const Graph& graph, const Card& /*card*/, Head& head) {
  const Value* boxes = only(graph, head, [](DType dtype, const Shape& shape) {
    return is_float(dtype) && (shape.rank() == 2 || is_list(shape)) && shape.back() == 4;
  });
  if (boxes == nullptr) return false;
  const std::int64_t rows = boxes->type.shape.elements() / 4;
  const auto is_row = [&](const Shape& shape) { return shape == Shape{rows} || shape == Shape{1, rows}; };
  const Value* scores =
      only(graph, head, [&](DType dtype, const Shape& shape) { return is_float(dtype) && is_row(shape); });
  const Value* labels =
      only(graph, head, [&](DType dtype, const Shape& shape) { return is_integer(dtype) && is_row(shape); });
  if (rows < 1 || scores == nullptr || labels == nullptr) return false;
  head.outputs = {boxes->name, scores->name, labels->name};
  return resolve_classes(graph, head);
}

bool is_pasted(const Shape& masks, const Card& card) { return masks[2] == card.height && masks[3] == card.width; }

/// Other sizes are ambiguous.
bool fit_masks(const Graph& graph, const Card& card, Head& head) {
  const Value* masks = only(graph, head, [&](DType dtype, const Shape& shape) {
    if (!is_float(dtype) || shape.rank() != 4 || shape[1] != 1) return false;
    const bool lies_on_boxes = shape[2] == shape[3] && shape[2] < std::min(card.width, card.height);
    return is_pasted(shape, card) || lies_on_boxes;
  });
  if (masks == nullptr || !fit(graph, card, head)) return false;
  if (masks->type.shape[0] != graph.value(output_of(graph, head, 1)).type.shape.elements()) return false;
  head.outputs.push_back(masks->name);
  return true;
}

/// By names; otherwise by the Softmax over regions, with the background first, and lists of dynamic length. No batch
/// axis.
bool is_torchvision(const Graph& graph, const Card& /*card*/, const Head& head) {
  const auto rank = [&](std::size_t i) { return graph.value(output_of(graph, head, i)).type.shape.rank(); };
  if (!reads_all(graph, head) || rank(0) != 2 || rank(1) != 1 || rank(2) != 1) return false;
  const bool is_named = head.outputs[0] == "boxes" && head.outputs[1] == "scores" && head.outputs[2] == "labels";
  return is_named || (classes_by(graph, "Softmax") > 0 && count_of(graph, head.outputs[1]) != ValueId::kNone);
}

Attachment::Objects choose(Attachment& to) {
  return choose_lists(to, {to.output(0), to.output(1), to.output(2)}, count_of(to.post.graph(), to.head.outputs[1]));
}

void attach(Attachment& to) { choose(to); }

void attach_masks(Attachment& to) {
  Fragment& post = to.post;
  const Attachment::Objects objects = choose(to);
  const ValueId masks = to.output(3);
  const Shape shape = post.shape(masks);
  const std::int64_t most = std::min(shape[0], post.shape(objects.anchors)[0]);
  const ValueId chosen = post.own("TakeObjects", {post.reshape(masks, {1, shape[0], shape[2], shape[3]}),
                                                  post.slice(objects.anchors, 0, 0, most), objects.count});
  if (is_pasted(shape, to.card))
    to.add_masks(MaskWithin::kImage, post.op("Sub", {chosen, post.number(0.5F)}), objects);
  else
    to.add_masks(MaskWithin::kRegions, chosen, objects);
}

}  // namespace

constexpr Decoder kTorchvision = {.name = "torchvision",
                                  .reads = "boxes, scores and labels of dynamic number (torchvision's detectors)",
                                  .shapes = "[N, 4], [N] and integers [N]",
                                  .usual_pixels = stretched_pixels,
                                  .fit = fit,
                                  .recognises = is_torchvision,
                                  .attach = attach,
                                  .selects_itself = true,
                                  .uses = {.multi_label = false}};
constexpr Decoder kMaskRcnn = {
    .name = "mask-rcnn",
    .reads = "the same plus masks, of the whole image or relative to their boxes (torchvision's Mask R-CNN)",
    .shapes = "[N, 4], [N], integers [N] and [N, 1, h, w]",
    .task = Task::kSegment,
    .usual_pixels = stretched_pixels,
    .fit = fit_masks,
    .recognises = is_torchvision,
    .attach = attach_masks,
    .selects_itself = true,
    .uses = {.multi_label = false}};

}  // namespace saccade
