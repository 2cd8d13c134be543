#include "vision/cards/recognise.hpp"
#include "vision/decoders/chosen.hpp"
#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Detectors with built-in NMS and rows of seven numbers, the first of which is the index of the image in the batch.
// automl's EfficientDet: detections [1, N, 7], rows image, y1, x1, y2, x2 (in the model's pixels), score, class (from
// 1). DetectionOutput [1, 1, N, 7] of Caffe's and OpenVINO's SSD: rows image, label (from 1), score, x1, y1, x2, y2
// (normalized); a row with image -1 ends the list. YOLOv7's export for ONNX Runtime: [N, 7], rows image, x1, y1, x2, y2
// (in the model's pixels), class, score. YOLO-NAS of SuperGradients in its flat format: the same with the score first.
namespace saccade {
namespace {

constexpr std::int64_t kNumbers = 7;
constexpr int kFromOne = kCocoNumbers - 1;  ///< COCO's category IDs without 0

/// Columns of a row.
struct Columns {
  std::vector<std::int64_t> box;  ///< x1, y1, x2, y2
  std::int64_t score = 0;
  std::int64_t label = 0;
};

/// The output as [1, N, 7].
ValueId rows_of(Attachment& to) {
  const ValueId output = to.output(0);
  return to.post.reshape(output, {1, to.post.shape(output).elements() / kNumbers, kNumbers});
}

ChosenLists lists_of(Fragment& post, ValueId rows, const Columns& columns) {
  const auto column = [&](std::int64_t place) { return post.slice(rows, 2, place, place + 1); };
  return {reorder(post, rows, columns.box), column(columns.score), column(columns.label)};
}

bool fit_efficientdet(const Graph& graph, const Card& /*card*/, Head& head) {
  const auto fits = [](const Shape& shape, Head& /*to*/) {
    return is_list(shape) && shape[1] > 0 && shape[2] == kNumbers;
  };
  if (!fit_one(graph, head, fits) || !assume_classes(head, kFromOne)) return false;
  if (head.classes == kFromOne) remap_coco_categories(head, 1);
  return true;
}

/// By its name and a channels-last image, as in TensorFlow: other rows of seven numbers are oriented boxes.
bool is_efficientdet(const Graph& graph, const Card& card, const Head& head) {
  const Shape image = with_batch(graph.value(find_value(graph, graph.inputs(), card.input)).type.shape);
  return reads_all(graph, head) && is_channels_last(image) &&
         (head.outputs[0] == "detections" || head.outputs[0] == "detections:0");
}

bool fit_flat(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [](const Shape& shape, Head& /*to*/) {
    return shape.rank() == 2 && shape[0] > 0 && shape[1] == kNumbers;
  });
}

void attach_flat(Attachment& to, const Columns& columns) {
  choose_lists(to, lists_of(to.post, rows_of(to), columns), count_of(to.post.graph(), to.head.outputs[0]));
}
void attach_yolov7(Attachment& to) { attach_flat(to, {.box = {1, 2, 3, 4}, .score = 6, .label = 5}); }
void attach_yolo_nas(Attachment& to) { attach_flat(to, {.box = {1, 2, 3, 4}, .score = 5, .label = 6}); }

/// The graph subtracts the mean itself, after which padding is 0.
void efficientdet_pixels(Card& card) {
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.pad = {124, 116, 104};
  card.scale = 1;
}

void attach_efficientdet(Attachment& to) {
  const ValueId count = count_of(to.post.graph(), to.head.outputs[0]);
  choose_lists(to, lists_of(to.post, rows_of(to), {.box = {2, 1, 4, 3}, .score = 5, .label = 6}), count);
}

bool fit_detection_output(const Graph& graph, const Card& /*card*/, Head& head) {
  return fit_one(graph, head, [](const Shape& shape, Head& /*to*/) {
    return shape.rank() == 4 && shape[2] > 0 && shape == Shape{1, 1, shape[2], kNumbers};
  });
}

/// By the layer's name in files of Caffe and OpenVINO.
bool is_detection_output(const Graph& graph, const Card& /*card*/, const Head& head) {
  const std::string& name = head.outputs[0];
  return reads_all(graph, head) &&
         (name.find("detection_out") != std::string::npos || name.find("DetectionOutput") != std::string::npos);
}

void caffe_pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kStretch;
  card.scale = 1;
  card.mean = {104, 117, 123};
}

/// Number of rows before the first with image -1, int64 [1].
ValueId rows_before_end(Fragment& post, ValueId rows) {
  const std::int64_t count = post.shape(rows)[1];
  const ValueId images = post.reshape(post.slice(rows, 2, 0, 1), {count});
  const ValueId ended = post.cast(post.op("Less", {images, post.number(0)}), DType::kFloat32);
  // The list ends after the last row in any case.
  return post.op("ArgMax", {post.concat({ended, post.floats({1}, {1})}, 0)}, {{"axis", std::int64_t{0}}});
}

void attach_detection_output(Attachment& to) {
  Fragment& post = to.post;
  const ValueId rows = rows_of(to);
  ChosenLists lists = lists_of(post, rows, {.box = {3, 4, 5, 6}, .score = 2, .label = 1});
  lists.boxes = to_pixels(to, lists.boxes);
  ValueId count = rows_before_end(post, rows);
  const ValueId there = count_of(post.graph(), to.head.outputs[0]);
  if (there != ValueId::kNone) count = post.op("Min", {count, there});
  choose_lists(to, lists, count);
}

}  // namespace

constexpr Decoder kEfficientDetEndToEnd = {
    .name = "efficientdet-e2e",
    .reads = "rows image, y1, x1, y2, x2, score, class (from 1) of automl's EfficientDet",
    .shapes = "[1, N, 7]",
    .usual_pixels = efficientdet_pixels,
    .fit = fit_efficientdet,
    .recognises = is_efficientdet,
    .attach = attach_efficientdet,
    .selects_itself = true,
    .uses = {.multi_label = false},
    .first_class = 1};
constexpr Decoder kDetectionOutput = {
    .name = "detection-output",
    .reads = "rows image, label (from 1), score, normalized x1, y1, x2, y2 (SSD of Caffe and OpenVINO)",
    .shapes = "[1, 1, N, 7]",
    .usual_pixels = caffe_pixels,
    .fit = fit_detection_output,
    .recognises = is_detection_output,
    .attach = attach_detection_output,
    .selects_itself = true,
    .uses = {.multi_label = false},
    .first_class = 1};

constexpr Decoder kYolov7EndToEnd = {.name = "yolov7-e2e",
                                     .reads = "rows image, x1, y1, x2, y2, class, score (YOLOv7 for ONNX Runtime)",
                                     .shapes = "[N, 7]",
                                     .usual_pixels = ultralytics_pixels,
                                     .fit = fit_flat,
                                     .attach = attach_yolov7,
                                     .selects_itself = true,
                                     .uses = {.multi_label = false}};
constexpr Decoder kYoloNasEndToEnd = {.name = "yolo-nas-e2e",
                                      .reads = "rows image, x1, y1, x2, y2, score, class (YOLO-NAS, flat format)",
                                      .shapes = "[N, 7]",
                                      .usual_pixels = ultralytics_pixels,
                                      .fit = fit_flat,
                                      .attach = attach_yolo_nas,
                                      .selects_itself = true,
                                      .uses = {.multi_label = false}};

}  // namespace saccade
