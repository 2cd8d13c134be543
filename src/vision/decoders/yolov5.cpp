#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// YOLOv5, v6 and v7: rows x, y, width, height, objectness and one score per class, [1, A, 5 + C]. YOLOX: the same rows
// with boxes relative to their cells.
namespace saccade {
namespace {

/// Other rows, such as a DETR's queries or selected boxes, have other boxes.
bool are_rows(const Card& card, const Shape& shape) { return is_list(shape) && are_anchors(card, shape[1]); }

bool fit_rows(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    return are_rows(card, shape) && set_class_count(to, shape[2] - 5);
  });
}

std::int64_t rows_of(const Graph& graph, const Head& head) { return graph.value(output_of(graph, head)).type.shape[1]; }

bool fit_decoded(const Graph& graph, const Card& card, Head& head) { return fit_rows(graph, card, head); }

bool has_exponentials(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) { return graph.node(id).is("Exp"); });
}

/// Three anchors per cell, or one. Other rows of this form carry keypoints, so only COCO's 80 classes are certain. The
/// undecoded heads of older exports are ignored. One row per cell whose size comes from an exponential may be a decoded
/// YOLOX, which has other preprocessing.
bool is_decoded(const Graph& graph, const Card& card, const Head& head) {
  const std::int64_t rows = rows_of(graph, head);
  const bool one_a_cell = !strides_for(card, rows).empty() && !has_exponentials(graph);
  const bool three_a_cell = rows % 3 == 0 && !strides_for(card, rows / 3).empty();
  return head.classes == 80 && (one_a_cell || three_a_cell);
}

Node decoder_node(Attachment& to, const char* op) {
  Node decoder{.domain = "saccade", .op = op, .inputs = {to.output(0), to.class_filter()}};
  to.set_candidate_attributes(decoder);
  return decoder;
}

void attach_decoded(Attachment& to) { to.choose(decoder_node(to, "DecodeYolov5")); }

/// The columns after the classes of the selected objects, [N, E].
ValueId numbers_behind(Attachment& to, const Attachment::Objects& objects) {
  const ValueId rows = to.output(0);
  const std::int64_t width = to.post.shape(rows)[2];
  const std::int64_t first = 5 + to.head.output_classes();
  const ValueId behind = to.post.gather(to.post.slice(rows, 2, first, width), 1, objects.anchors);
  return to.post.reshape(behind, {to.post.shape(behind)[1], width - first});
}

Attachment::Objects choose_of_classes(Attachment& to) {
  Node decoder = decoder_node(to, "DecodeYolov5");
  decoder.attributes.set("classes", std::int64_t{to.head.output_classes()});
  return to.choose(std::move(decoder));
}

bool fit_masks(const Graph& graph, const Card& card, Head& head) {
  return fit_with_prototypes(graph, head, [&](const Shape& shape, Head& to, std::int64_t coefficients) {
    return are_rows(card, shape) && set_class_count(to, shape[2] - 5 - coefficients);
  });
}

/// Older exports also have the undecoded heads.
bool is_masks(const Graph& graph, const Card& card, const Head& head) {
  const std::int64_t rows = rows_of(graph, head);
  return head.classes == 80 && rows % 3 == 0 && !strides_for(card, rows / 3).empty();
}

void attach_masks(Attachment& to) {
  const Attachment::Objects objects = choose_of_classes(to);
  add_prototype_masks(to, objects, numbers_behind(to, objects), to.output(1));
}

constexpr int kPersonPoints = 17;

/// Human poses: one class, and x, y, confidence of COCO's keypoints.
bool fit_points(const Graph& graph, const Card& card, Head& head) {
  if (head.keypoints == 0) head.keypoints = kPersonPoints;
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    return are_rows(card, shape) && set_class_count(to, shape[2] - 5 - 3 * std::int64_t{to.keypoints});
  });
}

bool is_people(const Graph& graph, const Card& card, const Head& head) {
  const std::int64_t rows = rows_of(graph, head);
  return head.classes == 1 && rows % 3 == 0 && strides_for(card, rows / 3).size() >= 3;
}

void attach_points(Attachment& to) {
  const Attachment::Objects objects = choose_of_classes(to);
  const ValueId points = numbers_behind(to, objects);
  const Shape shape = to.post.shape(points);
  to.add_keypoints(to.post.reshape(points, {1, shape[0], shape[1]}), 3);
}

void yolox_pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.pad = {114, 114, 114};
  card.scale = 1;
}

bool fit_yolox(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (!is_list(shape) || !set_class_count(to, shape[2] - 5)) return false;
    if (to.strides.empty()) to.strides = strides_for(card, shape[1]);
    return cells(card, to.strides) == shape[1];
  });
}

/// An undecoded head, straight from its convolutions.
bool is_yolox(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && makers(graph, output_of(graph, head)) == std::set<std::string>{"Conv", "Sigmoid"};
}

void attach_yolox(Attachment& to) {
  Node decoder = decoder_node(to, "DecodeYolox");
  decoder.attributes.set("strides", std::vector<std::int64_t>(to.head.strides.begin(), to.head.strides.end()));
  decoder.attributes.set("width", std::int64_t{to.card.width});
  decoder.attributes.set("height", std::int64_t{to.card.height});
  to.choose(std::move(decoder));
}

}  // namespace

constexpr Decoder kYolov5 = {.name = "yolov5",
                             .reads = "rows x, y, w, h, objectness and one score per class (YOLOv5, v6, v7)",
                             .shapes = "[1, A, 5 + C], A one or several per cell of consecutive strides",
                             .usual_pixels = ultralytics_pixels,
                             .fit = fit_decoded,
                             .recognises = is_decoded,
                             .attach = attach_decoded};
constexpr Decoder kYolov5Seg = {.name = "yolov5-seg",
                                .reads = "the same plus mask coefficients after the classes, and prototypes",
                                .shapes = "[1, A, 5 + C + K], A as for yolov5, and [1, K, h, w]",
                                .task = Task::kSegment,
                                .usual_pixels = ultralytics_pixels,
                                .fit = fit_masks,
                                .recognises = is_masks,
                                .attach = attach_masks};
constexpr Decoder kYolov7Pose = {.name = "yolov7-pose",
                                 .reads = "the same with keypoints (x, y, confidence) in place of the coefficients",
                                 .shapes = "[1, A, 5 + C + 3K], A as for yolov5",
                                 .task = Task::kPose,
                                 .usual_pixels = ultralytics_pixels,
                                 .fit = fit_points,
                                 .recognises = is_people,
                                 .attach = attach_points,
                                 .uses = {.keypoints = true}};
constexpr Decoder kYolox = {.name = "yolox",
                            .reads = "YOLOX's undecoded grid; `strides` per level",
                            .shapes = "[1, A, 5 + C], A cells of `strides`",
                            .usual_pixels = yolox_pixels,
                            .fit = fit_yolox,
                            .recognises = is_yolox,
                            .attach = attach_yolox,
                            .uses = {.strides = true}};

}  // namespace saccade
