#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// YOLOv3 of keras-yolo3 and ONNX's model zoo: all boxes [1, A, 4] (y1, x1, y2, x2 in the pixels that its input
// image_shape names), their scores [1, C, A], and the indices of those that its own suppression chose, which are left:
// ours chooses among the same boxes, so that its thresholds can be set.
namespace saccade {
namespace {

/// Three anchors per cell of three levels, or of the tiny model's two.
bool are_boxes(const Card& card, const Shape& shape) {
  if (!is_list(shape) || shape[2] != 4) return false;
  return shape[1] == 3 * cells(card, {8, 16, 32}) || shape[1] == 3 * cells(card, {16, 32});
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  for (ValueId first : readable_outputs(graph, head)) {
    const Shape& boxes = graph.value(first).type.shape;
    if (!are_boxes(card, boxes)) continue;
    for (ValueId second : readable_outputs(graph, head)) {
      const Shape& scores = graph.value(second).type.shape;
      if (first == second || !is_list(scores) || scores[2] != boxes[1]) continue;
      if (!set_class_count(head, scores[1])) return false;
      head.outputs = {graph.value(first).name, graph.value(second).name};
      return true;
    }
  }
  return false;
}

bool is_keras(const Graph& graph, const Card& /*card*/, const Head& head) {
  bool asks_for_size = false;
  for (ValueId input : graph.inputs()) asks_for_size = asks_for_size || graph.value(input).name == "image_shape";
  return asks_for_size && graph.data_outputs().size() <= 3 && head.outputs[0].starts_with("yolonms_layer");
}

void pixels(Card& card) {
  ultralytics_pixels(card);
  card.pad = {128, 128, 128};
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  to.choose(reorder(post, to.output(0), {1, 0, 3, 2}), post.transpose(to.output(1), {0, 2, 1}));
}

}  // namespace

constexpr Decoder kKerasYolov3 = {.name = "keras-yolov3",
                                  .reads = "keras-yolo3's boxes and scores; its selected indices are ignored",
                                  .shapes = "[1, A, 4] and [1, C, A], A three per cell of strides 8, 16, 32 or 16, 32",
                                  .usual_pixels = pixels,
                                  .fit = fit,
                                  .recognises = is_keras,
                                  .attach = attach};

}  // namespace saccade
