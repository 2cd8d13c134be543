#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// YOLOv8, v9, v11 and v12: one output [1, 4 + C + E, A] of columns x, y, width, height and one score per class,
// followed by 32 mask coefficients (with prototypes [1, 32, h, w] as a second output), keypoints, or an angle.
namespace saccade {
namespace {

/// Whether one of the concatenated parts holds CLASSES scores from a sigmoid. The parts after the classes are often
/// concatenated separately.
bool has_class_rows(const Graph& graph, ValueId output, std::int64_t classes) {
  const auto is_scores = [&](ValueId part) {
    const Shape& shape = graph.value(part).type.shape;
    return shape.rank() == 3 && shape[1] == classes && makers(graph, part) == std::set<std::string>{"Sigmoid"};
  };
  return std::ranges::any_of(parts(graph, output), [&](ValueId part) {
    return is_scores(part) || std::ranges::any_of(parts(graph, part), is_scores);
  });
}

/// Other columns, such as a DETR's queries, have other boxes.
bool are_columns(const Card& card, const Shape& shape) { return is_list(shape) && are_cells(card, shape[2]); }

/// EXTRA rows follow the classes.
bool fit_columns(const Graph& graph, const Card& card, Head& head, std::int64_t extra) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    return are_columns(card, shape) && set_class_count(to, shape[1] - 4 - extra);
  });
}

/// The part of the rows that DecodeYolov8 reads.
Attachment::Objects choose_columns(Attachment& to) {
  Node decoder{.domain = "saccade", .op = "DecodeYolov8", .inputs = {to.output(0), to.class_filter()}};
  to.set_candidate_attributes(decoder);
  decoder.attributes.set("classes", std::int64_t{to.head.output_classes()});
  return to.choose(std::move(decoder));
}

/// The rows after the classes of the selected objects, [1, N, E].
ValueId rows_of(Attachment& to, ValueId anchors) {
  const ValueId output = to.output(0);
  const ValueId behind = to.post.slice(output, 1, 4 + to.head.output_classes(), to.post.shape(output)[1]);
  return to.post.transpose(to.post.gather(behind, 2, anchors), {0, 2, 1});
}

bool fit_boxes(const Graph& graph, const Card& card, Head& head) { return fit_columns(graph, card, head, 0); }

bool is_boxes(const Graph& graph, const Card& card, const Head& head) {
  const ValueId output = output_of(graph, head);
  if (!reads_all(graph, head) || strides_for(card, graph.value(output).type.shape[2]).empty()) return false;
  return head.classes == 80 || has_class_rows(graph, output, head.classes);
}

void attach_boxes(Attachment& to) { choose_columns(to); }

bool fit_masks(const Graph& graph, const Card& card, Head& head) {
  return fit_with_prototypes(graph, head, [&](const Shape& shape, Head& to, std::int64_t coefficients) {
    return are_columns(card, shape) && set_class_count(to, shape[1] - 4 - coefficients);
  });
}

bool is_masks(const Graph& graph, const Card& card, const Head& head) {
  const ValueId output = output_of(graph, head);
  if (!reads_all(graph, head) || strides_for(card, graph.value(output).type.shape[2]).empty()) return false;
  return head.classes == 80 || has_class_rows(graph, output, head.classes);
}

void attach_masks(Attachment& to) {
  const Attachment::Objects objects = choose_columns(to);
  const ValueId rows = rows_of(to, objects.anchors);
  const Shape shape = to.post.shape(rows);
  add_prototype_masks(to, objects, to.post.reshape(rows, {shape[1], shape[2]}), to.output(1));
}

/// Three numbers per keypoint if the rows are divisible by three, as in Ultralytics' human poses; otherwise two.
std::int64_t numbers_of(std::int64_t extra, int keypoints) {
  if (keypoints > 0) return extra / keypoints;
  return extra % 3 == 0 ? 3 : 2;
}

bool fit_points(const Graph& graph, const Card& card, Head& head) {
  // The card or the metadata has the classes; human poses have one class and 17 keypoints.
  if (!assume_classes(head, std::max(1, metadata_classes(graph)))) return false;
  if (head.keypoints == 0) head.keypoints = metadata_keypoints(graph);
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (!are_columns(card, shape)) return false;
    const std::int64_t extra = shape[1] - 4 - to.classes;
    if (extra < 2) return false;
    const std::int64_t numbers = numbers_of(extra, to.keypoints);
    if (to.keypoints == 0) to.keypoints = static_cast<int>(extra / numbers);
    return (numbers == 2 || numbers == 3) && extra == numbers * to.keypoints;
  });
}

/// People, without metadata: 4 + 1 + 17 * 3 rows.
bool is_people(const Graph& graph, const Card& card, const Head& head) {
  const Shape& shape = graph.value(output_of(graph, head)).type.shape;
  return reads_all(graph, head) && shape[1] == 56 && !strides_for(card, shape[2]).empty();
}

void attach_points(Attachment& to) {
  const Attachment::Objects objects = choose_columns(to);
  const ValueId rows = rows_of(to, objects.anchors);
  to.add_keypoints(rows, to.post.shape(rows)[2] / to.head.keypoints);
}

bool fit_oriented(const Graph& graph, const Card& card, Head& head) { return fit_columns(graph, card, head, 1); }

/// The 15 classes of DOTA; others look like axis-aligned boxes with one more class.
bool is_oriented(const Graph& graph, const Card& card, const Head& head) {
  const Shape& shape = graph.value(output_of(graph, head)).type.shape;
  return reads_all(graph, head) && shape[1] == 20 && !strides_for(card, shape[2]).empty() &&
         has_class_rows(graph, output_of(graph, head), 15);
}

void attach_oriented(Attachment& to) {
  Fragment& post = to.post;
  const ValueId output = to.output(0);
  const std::int64_t classes = to.head.output_classes();
  const ValueId angle = post.slice(output, 1, 4 + classes, 5 + classes);
  const ValueId boxes = post.concat({post.slice(output, 1, 0, 4), angle}, 1);
  to.choose(post.transpose(boxes, {0, 2, 1}), post.transpose(post.slice(output, 1, 4, 4 + classes), {0, 2, 1}));
}

}  // namespace

void add_prototype_masks(Attachment& to, const Attachment::Objects& objects, ValueId coefficients, ValueId prototypes) {
  const ValueId grids =
      to.post.own("BoxMasks", {coefficients, prototypes, objects.detections, objects.count, to.geometry},
                  {{"width", std::int64_t{to.card.width}}, {"height", std::int64_t{to.card.height}}});
  to.add_masks(MaskWithin::kBoxes, grids, objects);
}

constexpr Decoder kYolov8 = {.name = "yolov8",
                             .reads = "columns x, y, w, h and one score per class (YOLOv8, v9, v11, v12, YOLO-World)",
                             .shapes = "[1, 4 + C, A], A cells of consecutive strides",
                             .usual_pixels = ultralytics_pixels,
                             .fit = fit_boxes,
                             .recognises = is_boxes,
                             .attach = attach_boxes};
constexpr Decoder kYolov8Seg = {.name = "yolov8-seg",
                                .reads = "the same plus mask coefficients after the classes, and prototypes",
                                .shapes = "[1, 4 + C + K, A], A cells of consecutive strides, and [1, K, h, w]",
                                .task = Task::kSegment,
                                .usual_pixels = ultralytics_pixels,
                                .fit = fit_masks,
                                .recognises = is_masks,
                                .attach = attach_masks};
constexpr Decoder kYolov8Pose = {.name = "yolov8-pose",
                                 .reads = "the same plus keypoints after the classes (x, y, and a confidence)",
                                 .shapes = "[1, 4 + C + 2K or 3K, A], A cells of consecutive strides",
                                 .task = Task::kPose,
                                 .usual_pixels = ultralytics_pixels,
                                 .fit = fit_points,
                                 .recognises = is_people,
                                 .attach = attach_points,
                                 .uses = {.keypoints = true}};
constexpr Decoder kYolov8Obb = {.name = "yolov8-obb",
                                .reads = "the same plus an angle in radians after the classes",
                                .shapes = "[1, 4 + C + 1, A], A cells of consecutive strides",
                                .task = Task::kOriented,
                                .usual_pixels = ultralytics_pixels,
                                .fit = fit_oriented,
                                .recognises = is_oriented,
                                .attach = attach_oriented};

}  // namespace saccade
