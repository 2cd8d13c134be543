#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Detectors with suppression in their graph, that give boxes, scores and classes in outputs of their own. TensorFlow's:
// detection_boxes [1, N, 4] (y1, x1, y2, x2 in shares of the picture), detection_scores and detection_classes [1, N]
// (from 1 on), num_detections. ONNX's model zoo's SSD: bboxes [1, N, 4] (x1, y1, x2, y2 in shares), labels (from 1 on),
// scores. TensorRT's form: det_boxes [1, N, 4] (corners in pixels), det_scores, det_classes [1, N] and their number
// num_dets. torchvision's: boxes [N, 4] (corners in pixels), labels [N], scores [N], and masks [N, 1, h, w] of a Mask
// R-CNN.
namespace saccade {
namespace {

/// What stands in the outputs, as [1, N, ...].
struct Lists {
  ValueId boxes;  ///< corners in the model's pixels
  ValueId scores;
  ValueId classes;
};

/// How many objects of an output are there, int64 [1], along the axis that holds them; kNone: all.
ValueId count_of(const Graph& graph, const std::string& output) {
  for (const Extent& extent : graph.extents())
    if (graph.value(graph.outputs()[extent.output]).name == output) return graph.outputs()[extent.count];
  return ValueId::kNone;
}

/// Scores [N] of the objects that are there; -1 for those behind them.
ValueId there_only(Fragment& post, ValueId scores, ValueId count) {
  if (count == ValueId::kNone) return scores;
  const std::int64_t rows = post.shape(scores)[0];
  std::vector<float> places;
  for (std::int64_t i = 0; i < rows; ++i) places.push_back(static_cast<float>(i));
  const ValueId number = post.reshape(post.cast(count, DType::kFloat32), {1});
  const ValueId there = post.op("Less", {post.floats({rows}, places), number});
  return post.op("Where", {there, scores, post.number(-1)});
}

/// Rows x1, y1, x2, y2, score, class to answers. CLASSES may be whole numbers of any kind; FIRST is the first class's.
Attachment::Objects choose(Attachment& to, const Lists& lists, ValueId count, int first) {
  Fragment& post = to.post;
  const std::int64_t rows = post.shape(lists.scores).elements();
  const ValueId scores = there_only(post, post.reshape(lists.scores, {rows}), count);
  const ValueId classes =
      post.op("Sub", {post.reshape(lists.classes, {1, rows, 1}), post.number(static_cast<float>(first))});
  Node decoder{
      .domain = "saccade",
      .op = "DecodeEndToEnd",
      .inputs = {post.concat({post.reshape(lists.boxes, {1, rows, 4}), post.reshape(scores, {1, rows, 1}), classes}, 2),
                 to.class_filter()}};
  to.set_candidate_attributes(decoder);
  return to.choose(std::move(decoder));
}

/// The outputs that WORDS name, boxes first: [1, N, 4] or [N, 4], and lists of as many.
bool fit_lists(const Graph& graph, Head& head, std::initializer_list<const char*> words) {
  std::vector<std::string> names;
  std::int64_t rows = 0;
  for (const char* word : words) {
    const Value* value = find_role(graph, head, names.size(), word);
    if (value == nullptr) return false;
    const std::int64_t elements = value->type.shape.elements();
    if (names.empty()) rows = elements / 4;
    if (names.empty() ? value->type.shape.back() != 4 || rows < 1 : names.size() < 3 && elements != rows) return false;
    names.push_back(value->name);
  }
  head.outputs = names;
  return true;
}

bool reads_these(const Graph& graph, const Card& /*card*/, const Head& head) { return reads_all(graph, head); }

bool fit_tensorflow(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_lists(graph, head, {"detection_boxes", "detection_scores", "detection_classes", "num_detections"});
}

void raw_pixels(Card& card) {
  card.resize = ResizeMode::kStretch;
  card.scale = 1;
}

void attach_tensorflow(Attachment& to) {
  Fragment& post = to.post;
  const std::int64_t rows = post.shape(to.output(1)).elements();
  const ValueId boxes = to_pixels(to, reorder(post, post.reshape(to.output(0), {1, rows, 4}), {1, 0, 3, 2}));
  choose(to, {boxes, to.output(1), to.output(2)}, post.reshape(to.output(3), {1}), 1);
}

bool fit_zoo(const Graph& graph, const Card& /*card*/, Head& head) {
  if (!fit_lists(graph, head, {"bboxes", "scores", "labels"})) return false;
  if (head.classes == 0) head.classes = head.labels.empty() ? 80 : static_cast<int>(head.labels.size());
  return true;
}

void attach_zoo(Attachment& to) {
  const ValueId count = count_of(to.post.graph(), to.head.outputs[1]);
  const std::int64_t rows = to.post.shape(to.output(1)).elements();
  choose(to, {to_pixels(to, to.post.reshape(to.output(0), {1, rows, 4})), to.output(1), to.output(2)}, count, 1);
}

bool fit_tensorrt(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_lists(graph, head, {"det_boxes", "det_scores", "det_classes", "num_dets"});
}

void attach_tensorrt(Attachment& to) {
  choose(to, {to.output(0), to.output(1), to.output(2)}, to.post.reshape(to.output(3), {1}), 0);
}

/// Classes that the model's last softmax over regions tells apart, the background among them; 0: there is none.
std::int64_t region_classes(const Graph& graph) {
  std::int64_t classes = 0;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.is("Softmax")) continue;
    const Shape& shape = graph.value(node.outputs[0]).type.shape;
    if (shape.rank() == 2) classes = shape[1];
  }
  return classes;
}

/// COCO's categories keep their numbers, up to 90, and the background is 0.
constexpr std::int64_t kCocoNumbers = 91;

void settle_classes(const Graph& graph, Head& head) {
  if (head.classes != 0) return;
  if (!head.labels.empty()) {
    head.classes = static_cast<int>(head.remap.empty() ? head.labels.size() : head.remap.size());
    return;
  }
  head.classes = static_cast<int>(head.remap.empty() ? region_classes(graph) : head.remap.size());
  if (head.classes == kCocoNumbers) remap_coco_categories(head, 0);
}

bool fit_torchvision(const Graph& graph, const Card& /*card*/, Head& head) {
  if (!fit_lists(graph, head, {"boxes", "scores", "labels"})) return false;
  settle_classes(graph, head);
  return true;
}

/// Exactly these names, and no batch axis.
bool is_torchvision(const Graph& graph, const Card& /*card*/, const Head& head) {
  const auto value = [&](std::size_t i) -> const Value& { return graph.value(output_of(graph, head, i)); };
  return reads_all(graph, head) && head.outputs[0] == "boxes" && head.outputs[1] == "scores" &&
         head.outputs[2] == "labels" && value(0).type.shape.rank() == 2 && value(1).type.shape.rank() == 1 &&
         value(2).type.shape.rank() == 1;
}

Attachment::Objects choose_torchvision(Attachment& to) {
  return choose(to, {to.output(0), to.output(1), to.output(2)}, count_of(to.post.graph(), to.head.outputs[1]), 0);
}

void attach_torchvision(Attachment& to) { choose_torchvision(to); }

bool fit_mask_rcnn(const Graph& graph, const Card& /*card*/, Head& head) {
  if (!fit_lists(graph, head, {"boxes", "scores", "labels", "masks"})) return false;
  const Shape& boxes = graph.value(output_of(graph, head)).type.shape;
  const Shape& masks = graph.value(output_of(graph, head, 3)).type.shape;
  if (masks.rank() != 4 || masks[0] != boxes.elements() / 4 || masks[1] != 1) return false;
  settle_classes(graph, head);
  return true;
}

/// Masks of the picture's size lie on it, pasted there by the model; smaller ones lie on their boxes.
void attach_mask_rcnn(Attachment& to) {
  Fragment& post = to.post;
  const Attachment::Objects objects = choose_torchvision(to);
  const ValueId masks = to.output(3);
  const Shape shape = post.shape(masks);
  const ValueId chosen = post.gather(post.reshape(masks, {shape[0], shape[2], shape[3]}), 0, objects.anchors);
  if (shape[2] == to.card.height && shape[3] == to.card.width)
    to.give(Answer::kMasks, post.op("Sub", {chosen, post.number(0.5F)}));
  else
    to.give(Answer::kRegions, chosen);
}

}  // namespace

constexpr Decoder kTensorFlow = {.name = "tensorflow",
                                 .reads = "detection_boxes, _scores, _classes (from 1 on) and num_detections",
                                 .usual_pixels = raw_pixels,
                                 .fit = fit_tensorflow,
                                 .recognises = reads_these,
                                 .attach = attach_tensorflow,
                                 .selects_itself = true};
constexpr Decoder kSsdZoo = {.name = "ssd-zoo",
                             .reads = "bboxes in shares of the picture, scores, labels from 1 on (the ONNX zoo's SSD)",
                             .usual_pixels = stretched_imagenet_pixels,
                             .fit = fit_zoo,
                             .recognises = reads_these,
                             .attach = attach_zoo,
                             .selects_itself = true};
constexpr Decoder kTensorRt = {.name = "tensorrt",
                               .reads = "det_boxes, det_scores, det_classes and num_dets",
                               .usual_pixels = ultralytics_pixels,
                               .fit = fit_tensorrt,
                               .recognises = reads_these,
                               .attach = attach_tensorrt,
                               .selects_itself = true};
constexpr Decoder kTorchvision = {.name = "torchvision",
                                  .reads = "boxes, scores and labels, as many as there are (torchvision's detectors)",
                                  .usual_pixels = stretched_pixels,
                                  .fit = fit_torchvision,
                                  .recognises = is_torchvision,
                                  .attach = attach_torchvision,
                                  .selects_itself = true};
constexpr Decoder kMaskRcnn = {.name = "mask-rcnn",
                               .reads = "the same with masks (torchvision's Mask R-CNN)",
                               .task = Task::kSegment,
                               .usual_pixels = stretched_pixels,
                               .fit = fit_mask_rcnn,
                               .recognises = is_torchvision,
                               .attach = attach_mask_rcnn,
                               .selects_itself = true};

}  // namespace saccade
