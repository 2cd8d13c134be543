#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Models with built-in NMS, or without need of it (YOLOv10, v26): rows x1, y1, x2, y2, score, class, followed by mask
// coefficients (with prototypes [1, K, h, w] as a second output), keypoints, or an angle, with the box as x, y
// (centre), width, height.
namespace saccade {
namespace {

constexpr std::int64_t kNumbers = 6;
constexpr std::int64_t kMostRows = 1000;
constexpr int kPersonPoints = 17;

/// Rows of selected boxes: a detector's anchors are not selected, and have other columns.
bool are_selected(const Card& card, const Shape& shape) {
  return is_list(shape) && (shape[1] <= kMostRows || !are_anchors(card, shape[1]));
}

std::int64_t rows_of(const Graph& graph, const Head& head) { return graph.value(output_of(graph, head)).type.shape[1]; }

bool is_chosen(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && rows_of(graph, head) <= kMostRows;
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head,
                 [&](const Shape& shape, Head& /*to*/) { return are_selected(card, shape) && shape[2] == kNumbers; });
}

Attachment::Objects choose_rows(Attachment& to) {
  Node decoder{.domain = "saccade", .op = "DecodeEndToEnd", .inputs = {to.output(0), to.class_filter()}};
  to.set_candidate_attributes(decoder);
  return to.choose(std::move(decoder));
}

/// The columns after the class of the selected objects, [1, N, E].
ValueId numbers_behind(Attachment& to, const Attachment::Objects& objects) {
  const ValueId rows = to.output(0);
  const ValueId behind = to.post.slice(rows, 2, kNumbers, to.post.shape(rows)[2]);
  return to.post.gather(behind, 1, objects.anchors);
}

void attach(Attachment& to) { choose_rows(to); }

bool fit_masks(const Graph& graph, const Card& card, Head& head) {
  return fit_with_prototypes(graph, head, [&](const Shape& shape, Head& /*to*/, std::int64_t coefficients) {
    return are_selected(card, shape) && shape[2] == kNumbers + coefficients;
  });
}

void attach_masks(Attachment& to) {
  const Attachment::Objects objects = choose_rows(to);
  const ValueId rows = numbers_behind(to, objects);
  const Shape shape = to.post.shape(rows);
  add_prototype_masks(to, objects, to.post.reshape(rows, {shape[1], shape[2]}), to.output(1));
}

/// Human poses by default: one class, and x, y, confidence of COCO's keypoints.
bool fit_points(const Graph& graph, const Card& card, Head& head) {
  if (head.keypoints == 0) head.keypoints = metadata_keypoints(graph);
  const bool people = head.keypoints == 0;
  if (people) head.keypoints = kPersonPoints;
  const bool found = fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (!are_selected(card, shape)) return false;
    const std::int64_t extra = shape[2] - kNumbers;
    return (extra == 3 * std::int64_t{to.keypoints} || extra == 2 * std::int64_t{to.keypoints});
  });
  if (found && people) assume_classes(head, 1);
  return found;
}

bool is_people(const Graph& graph, const Card& card, const Head& head) {
  return is_chosen(graph, card, head) && head.keypoints == kPersonPoints;
}

void attach_points(Attachment& to) {
  const ValueId points = numbers_behind(to, choose_rows(to));
  to.add_keypoints(points, to.post.shape(points)[2] / to.head.keypoints);
}

bool fit_oriented(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& /*to*/) {
    return are_selected(card, shape) && shape[2] == kNumbers + 1;
  });
}

/// Expands the class to one score per class, the others 0, as DecodeBoxes expects.
void attach_oriented(Attachment& to) {
  Fragment& post = to.post;
  const ValueId rows = to.output(0);
  const ValueId boxes = post.concat({post.slice(rows, 2, 0, 4), post.slice(rows, 2, 6, 7)}, 2);
  std::vector<float> numbers;
  const std::size_t count = to.head.remap.empty() ? to.head.labels.size() : to.head.remap.size();
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
  const ValueId classes = post.floats({1, 1, static_cast<std::int64_t>(numbers.size())}, numbers);
  const ValueId named = post.op("Floor", {post.slice(rows, 2, 5, 6)});
  const ValueId here = post.cast(post.op("Equal", {named, classes}), DType::kFloat32);
  // A class that is NaN has no score: all are 0, or NaN.
  const ValueId no_class = post.op("Sub", {named, named});
  to.choose(boxes, post.op("Mul", {here, post.op("Add", {post.slice(rows, 2, 4, 5), no_class})}));
}

}  // namespace

constexpr Decoder kYoloEndToEnd = {.name = "yolo-e2e",
                                   .reads = "rows x1, y1, x2, y2, score, class that need no NMS",
                                   .shapes = "[1, N, 6], N selected boxes",
                                   .usual_pixels = ultralytics_pixels,
                                   .fit = fit,
                                   .recognises = is_chosen,
                                   .attach = attach,
                                   .selects_itself = true,
                                   .uses = {.multi_label = false}};
constexpr Decoder kYoloEndToEndSeg = {
    .name = "yolo-e2e-seg",
    .reads = "the same plus mask coefficients after the class, and prototypes (YOLOv26-seg)",
    .shapes = "[1, N, 6 + K], N selected boxes, and [1, K, h, w]",
    .task = Task::kSegment,
    .usual_pixels = ultralytics_pixels,
    .fit = fit_masks,
    .recognises = is_chosen,
    .attach = attach_masks,
    .selects_itself = true,
    .uses = {.multi_label = false}};
constexpr Decoder kYoloEndToEndPose = {.name = "yolo-e2e-pose",
                                       .reads = "the same plus keypoints after the class (YOLOv26-pose)",
                                       .shapes = "[1, N, 6 + 2K or 3K], N selected boxes",
                                       .task = Task::kPose,
                                       .usual_pixels = ultralytics_pixels,
                                       .fit = fit_points,
                                       .recognises = is_people,
                                       .attach = attach_points,
                                       .selects_itself = true,
                                       .uses = {.multi_label = false, .keypoints = true}};
constexpr Decoder kYoloEndToEndObb = {.name = "yolo-e2e-obb",
                                      .reads = "rows x, y, w, h, score, class, angle that need no NMS (YOLOv26-obb)",
                                      .shapes = "[1, N, 7], N selected boxes",
                                      .task = Task::kOriented,
                                      .usual_pixels = ultralytics_pixels,
                                      .fit = fit_oriented,
                                      .attach = attach_oriented,
                                      .selects_itself = true,
                                      .uses = {.multi_label = false}};

}  // namespace saccade
