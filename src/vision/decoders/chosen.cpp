#include "vision/decoders/chosen.hpp"
#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Detectors with built-in NMS and separate outputs for boxes, scores and classes. TensorFlow: detection_boxes [1, N, 4]
// (normalized y1, x1, y2, x2), detection_scores, detection_classes [1, N] (from 1) and num_detections. SSD of the ONNX
// model zoo: bboxes [1, N, 4] (normalized x1, y1, x2, y2), labels (from 1) and scores. TensorRT: det_boxes [1, N, 4]
// (corners in pixels), det_scores, det_classes [1, N] and num_dets; YOLO-NAS of SuperGradients the same in its batch
// format.
namespace saccade {
namespace {

/// Scores [N]; -1 for those at and after COUNT.
ValueId there_only(Fragment& post, ValueId scores, ValueId count) {
  if (count == ValueId::kNone) return scores;
  const std::int64_t rows = post.shape(scores)[0];
  std::vector<float> places;
  for (std::int64_t i = 0; i < rows; ++i) places.push_back(static_cast<float>(i));
  const ValueId number = post.reshape(post.cast(count, DType::kFloat32), {1});
  const ValueId there = post.op("Less", {post.floats({rows}, places), number});
  // A NaN count makes all scores NaN.
  return post.op("Where", {there, scores, post.op("Sub", {number, post.op("Add", {number, post.number(1)})})});
}

}  // namespace

ValueId count_of(const Graph& graph, const std::string& output) {
  for (const Extent& extent : graph.extents())
    if (graph.value(graph.outputs()[extent.output]).name == output) return graph.outputs()[extent.count];
  return ValueId::kNone;
}

Attachment::Objects choose_lists(Attachment& to, const ChosenLists& lists, ValueId count) {
  Fragment& post = to.post;
  const std::int64_t rows = post.shape(lists.scores).elements();
  const ValueId scores = there_only(post, post.reshape(lists.scores, {rows}), count);
  const auto first = static_cast<float>(to.head.decoder->first_class);
  const ValueId classes = post.op("Sub", {post.reshape(lists.classes, {1, rows, 1}), post.number(first)});
  Node decoder{
      .domain = "saccade",
      .op = "DecodeEndToEnd",
      .inputs = {post.concat({post.reshape(lists.boxes, {1, rows, 4}), post.reshape(scores, {1, rows, 1}), classes}, 2),
                 to.class_filter()}};
  to.set_candidate_attributes(decoder);
  return to.choose(std::move(decoder));
}

namespace {

/// The outputs whose names contain WORDS: boxes [1, N, 4] or [N, 4], scores and classes of N boxes and, if there is a
/// fourth word, the number of valid boxes.
bool fit_lists(const Graph& graph, Head& head, std::initializer_list<const char*> words) {
  std::vector<std::string> names;
  std::int64_t rows = 0;
  for (const char* word : words) {
    const Value* value = find_role(graph, head, names.size(), word);
    if (value == nullptr) return false;
    const Shape& shape = value->type.shape;
    if (names.empty()) {
      if (shape.rank() < 2 || shape.back() != 4) return false;
      rows = shape.elements() / 4;
    } else if (shape.elements() != (names.size() < 3 ? rows : 1)) {
      return false;
    }
    names.push_back(value->name);
  }
  head.outputs = names;
  return rows > 0;
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
  choose_lists(to, {boxes, to.output(1), to.output(2)}, post.reshape(to.output(3), {1}));
}

bool fit_zoo(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_lists(graph, head, {"bboxes", "scores", "labels"}) && assume_classes(head, 80);
}

void attach_zoo(Attachment& to) {
  const ValueId count = count_of(to.post.graph(), to.head.outputs[1]);
  const std::int64_t rows = to.post.shape(to.output(1)).elements();
  choose_lists(to, {to_pixels(to, to.post.reshape(to.output(0), {1, rows, 4})), to.output(1), to.output(2)}, count);
}

bool fit_tensorrt(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_lists(graph, head, {"det_boxes", "det_scores", "det_classes", "num_dets"}) ||
         fit_lists(graph, head, {"pred_boxes", "pred_scores", "pred_classes", "num_predictions"});
}

void attach_tensorrt(Attachment& to) {
  choose_lists(to, {to.output(0), to.output(1), to.output(2)}, to.post.reshape(to.output(3), {1}));
}

}  // namespace

constexpr Decoder kTensorFlow = {.name = "tensorflow",
                                 .reads = "detection_boxes, _scores, _classes (from 1) and num_detections",
                                 .shapes = "[1, N, 4], [1, N], [1, N] and [1]",
                                 .usual_pixels = raw_pixels,
                                 .fit = fit_tensorflow,
                                 .recognises = reads_these,
                                 .attach = attach_tensorflow,
                                 .selects_itself = true,
                                 .uses = {.multi_label = false},
                                 .first_class = 1};
constexpr Decoder kSsdZoo = {.name = "ssd-zoo",
                             .reads = "normalized bboxes, scores, labels from 1 (SSD of the ONNX model zoo)",
                             .shapes = "[1, N, 4], [1, N] and [1, N]",
                             .usual_pixels = pillow_imagenet_pixels,
                             .fit = fit_zoo,
                             .recognises = reads_these,
                             .attach = attach_zoo,
                             .selects_itself = true,
                             .uses = {.multi_label = false},
                             .first_class = 1};
constexpr Decoder kTensorRt = {
    .name = "tensorrt",
    .reads = "det_boxes, _scores, _classes and num_dets, or pred_boxes and so on of YOLO-NAS",
    .shapes = "[1, N, 4], [1, N], [1, N] and [1, 1]",
    .usual_pixels = ultralytics_pixels,
    .fit = fit_tensorrt,
    .recognises = reads_these,
    .attach = attach_tensorrt,
    .selects_itself = true,
    .uses = {.multi_label = false}};

}  // namespace saccade
