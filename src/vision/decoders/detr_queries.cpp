#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Outputs of DETR heads: logits [1, Q, C] and boxes [1, Q, 4], normalized centre and size. DETR: softmax of the logits,
// with "no object" as the last class. RT-DETR, D-FINE, DEIM, conditional and deformable DETR: sigmoid of each logit.
namespace saccade {
namespace {

bool fit(const Graph& graph, Head& head, std::int64_t without) {
  const auto [scores, boxes] = find_scores_and_boxes(graph, head, "logits", "boxes");
  if (boxes == nullptr || boxes->type.shape[1] > kMostQueries) return false;
  if (!set_class_count(head, scores->type.shape[2] - without)) return false;
  head.outputs = {scores->name, boxes->name};
  if (head.classes == kCocoNumbers) remap_coco_categories(head, 0);
  return true;
}

/// By their names, if no output belongs to another task.
bool has_names(const Graph& graph, const Head& head) {
  if (!reads_all(graph, head)) return false;
  const auto holds = [&](std::size_t i, const char* word) { return head.outputs[i].find(word) != std::string::npos; };
  return holds(0, "logits") && holds(1, "boxes");
}

bool fit_softmax(const Graph& graph, const Card& /*card*/, Head& head) { return fit(graph, head, 1); }
/// COCO's 91 and "no object"; other numbers of classes are ambiguous.
bool is_softmax(const Graph& graph, const Card& /*card*/, const Head& head) {
  return has_names(graph, head) && head.classes == kCocoNumbers;
}

bool fit_sigmoid(const Graph& graph, const Card& /*card*/, Head& head) { return fit(graph, head, 0); }
bool is_sigmoid(const Graph& graph, const Card& /*card*/, const Head& head) {
  return has_names(graph, head) && head.classes == 80;
}
bool is_sigmoid_of_numbers(const Graph& graph, const Card& /*card*/, const Head& head) {
  return has_names(graph, head) && head.classes == kCocoNumbers;
}

void attach_softmax(Attachment& to) {
  const ValueId probabilities = to.post.op("Softmax", {to.output(0)}, {{"axis", std::int64_t{2}}});
  const std::int64_t classes = to.post.shape(probabilities)[2] - 1;
  to.choose(to_pixels(to, corners_of(to.post, to.output(1))), to.post.slice(probabilities, 2, 0, classes));
}

void attach_sigmoid(Attachment& to) {
  const bool squashed = ends_in(to.model, to.head.outputs[0], "Sigmoid");
  const ValueId scores = squashed ? to.output(0) : to.post.op("Sigmoid", {to.output(0)});
  to.choose(to_pixels(to, corners_of(to.post, to.output(1))), scores);
}

}  // namespace

constexpr Decoder kDetr = {.name = "detr",
                           .reads = "logits of the classes and of \"no object\", and boxes (DETR)",
                           .shapes = "[1, Q, C + 1] and [1, Q, 4], Q at most 2000",
                           .usual_pixels = pillow_imagenet_pixels,
                           .fit = fit_softmax,
                           .recognises = is_softmax,
                           .attach = attach_softmax,
                           .selects_itself = true};
constexpr Decoder kRtDetr = {.name = "rtdetr",
                             .reads = "one sigmoid logit per class, and boxes (RT-DETR, D-FINE, DEIM)",
                             .shapes = "[1, Q, C] and [1, Q, 4], Q at most 2000",
                             .usual_pixels = pillow_pixels,
                             .fit = fit_sigmoid,
                             .recognises = is_sigmoid,
                             .attach = attach_sigmoid,
                             .selects_itself = true};
constexpr Decoder kDeformableDetr = {.name = "deformable-detr",
                                     .reads = "the same with ImageNet preprocessing (deformable, conditional DETR)",
                                     .shapes = "[1, Q, C] and [1, Q, 4], Q at most 2000",
                                     .usual_pixels = pillow_imagenet_pixels,
                                     .fit = fit_sigmoid,
                                     .recognises = is_sigmoid_of_numbers,
                                     .attach = attach_sigmoid,
                                     .selects_itself = true};

}  // namespace saccade
