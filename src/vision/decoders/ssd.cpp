#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// SSD without suppression (pytorch-ssd, jetson-inference) and UltraFace: probabilities [1, A, 1 + C], the background's
// first, and boxes [1, A, 4], corners normalized to the image. SSD as ssd.pytorch gives it: boxes [1, A, 4] relative
// to priors, with the variances 0.1 and 0.2, logits [1, A, 1 + C], and the priors [A, 4] themselves. And what
// pytorch-YOLOv4 writes of Darknet's networks (YOLOv3, v4): confs [1, A, C] without a background, and the same boxes
// [1, A, 1, 4].
namespace saccade {
namespace {

bool fit(const Graph& graph, const Card& /*card*/, Head& head) {
  const auto [scores, boxes] = find_scores_and_boxes(graph, head, "scores", "boxes");
  // Independent scores have no background.
  if (boxes == nullptr || ends_in(graph, scores->name, "Sigmoid")) return false;
  if (!set_class_count(head, scores->type.shape[2] - 1)) return false;
  head.outputs = {scores->name, boxes->name};
  return true;
}

/// Only a softmax has a background, and only these names have boxes decoded.
bool is_ssd(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && head.outputs[0] == "scores" && head.outputs[1] == "boxes" &&
         ends_in(graph, head.outputs[0], "Softmax");
}

void pixels(Card& card) {
  card.resize = ResizeMode::kStretch;
  card.scale = 1;
  card.mean = {127, 127, 127};
  card.std = {128, 128, 128};
}

void attach(Attachment& to) {
  const ValueId scores = to.post.slice(to.output(0), 2, 1, 1 + to.head.output_classes());
  to.choose(to_pixels(to, to.output(1)), scores);
}

/// Three, two, two and three boxes per cell.
std::int64_t ultraface_rows(const Card& card) {
  std::int64_t rows = 0;
  for (const auto& [stride, boxes] : {std::pair{8, 3}, {16, 2}, {32, 2}, {64, 3}})
    rows += boxes * cells_rounded_up(card, {stride});
  return rows;
}

bool fit_face(const Graph& graph, const Card& card, Head& head) {
  if (!fit(graph, card, head) || head.classes != 1) return false;
  if (graph.value(output_of(graph, head)).type.shape[1] != ultraface_rows(card)) return false;
  if (head.labels.empty()) head.labels = {"face"};
  return true;
}

/// Boxes, logits, priors.
bool fit_priors(const Graph& graph, const Card& /*card*/, Head& head) {
  const auto named = [&](const auto& fits) {
    for (ValueId output : readable_outputs(graph, head))
      if (fits(graph.value(output).type.shape)) return &graph.value(output);
    return static_cast<const Value*>(nullptr);
  };
  const Value* priors = named([](const Shape& shape) { return shape.rank() == 2 && shape[1] == 4; });
  if (priors == nullptr) return false;
  const std::int64_t rows = priors->type.shape[0];
  const Value* boxes = named([&](const Shape& shape) { return shape == Shape{1, rows, 4}; });
  const Value* logits = named([&](const Shape& shape) { return is_list(shape) && shape[1] == rows && shape[2] != 4; });
  if (boxes == nullptr || logits == nullptr || !set_class_count(head, logits->type.shape[2] - 1)) return false;
  head.outputs = {boxes->name, logits->name, priors->name};
  return true;
}

/// Priors hang on no image.
bool has_priors(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && makers(graph, output_of(graph, head, 2)).empty();
}

void mean_pixels(Card& card) {
  card.resize = ResizeMode::kStretch;
  card.scale = 1;
  card.mean = {123, 117, 104};
}

void attach_priors(Attachment& to) {
  Fragment& post = to.post;
  const ValueId boxes = to.output(0);
  const ValueId priors = to.output(2);
  const ValueId sizes = post.slice(priors, 1, 2, 4);
  const auto scaled = [&](std::int64_t begin, float variance) {
    return post.op("Mul", {post.slice(boxes, 2, begin, begin + 2), post.number(variance)});
  };
  const ValueId centres = post.op("Add", {post.op("Mul", {scaled(0, 0.1F), sizes}), post.slice(priors, 1, 0, 2)});
  const ValueId grown = post.op("Mul", {post.op("Exp", {scaled(2, 0.2F)}), sizes});
  ValueId scores = to.output(1);
  if (!ends_in(to.model, to.head.outputs[1], "Softmax"))
    scores = post.op("Softmax", {scores}, {{"axis", std::int64_t{2}}});
  to.choose(to_pixels(to, corners_of(post, centres, grown)), post.slice(scores, 2, 1, 1 + to.head.output_classes()));
}

bool fit_darknet(const Graph& graph, const Card& /*card*/, Head& head) {
  const Value* boxes = find_role(graph, head, 0, "boxes");
  const Value* scores = find_role(graph, head, 1, "confs");
  if (boxes == nullptr || scores == nullptr || !is_list(scores->type.shape)) return false;
  const Shape& shape = scores->type.shape;
  if (boxes->type.shape != Shape{1, shape[1], 1, 4} || !set_class_count(head, shape[2])) return false;
  head.outputs = {boxes->name, scores->name};
  return true;
}

bool is_darknet(const Graph& graph, const Card& /*card*/, const Head& head) { return reads_all(graph, head); }

void attach_darknet(Attachment& to) {
  const std::int64_t rows = to.post.shape(to.output(1))[1];
  to.choose(to_pixels(to, to.post.reshape(to.output(0), {1, rows, 4})), to.output(1));
}

}  // namespace

constexpr Decoder kUltraFace = {.name = "ultraface",
                                .reads = "UltraFace's background and face probabilities, and boxes",
                                .shapes = "[1, A, 2] and [1, A, 4], A as UltraFace has for the input size",
                                .usual_pixels = pixels,
                                .fit = fit_face,
                                .recognises = is_ssd,
                                .attach = attach,
                                .uses = {.multi_label = false}};
constexpr Decoder kSsd = {.name = "ssd",
                          .reads = "probabilities with the background first, and normalized boxes",
                          .shapes = "[1, A, 1 + C] and [1, A, 4]",
                          .usual_pixels = pixels,
                          .fit = fit,
                          .recognises = is_ssd,
                          .attach = attach};
constexpr Decoder kSsdPriors = {.name = "ssd-priors",
                                .reads = "boxes relative to priors, logits with the background first, and the priors",
                                .shapes = "[1, A, 4], [1, A, 1 + C] and [A, 4]",
                                .usual_pixels = mean_pixels,
                                .fit = fit_priors,
                                .recognises = has_priors,
                                .attach = attach_priors};
constexpr Decoder kDarknet = {.name = "darknet",
                              .reads = "pytorch-YOLOv4's normalized boxes, and confidences",
                              .shapes = "boxes [1, A, 1, 4] and confs [1, A, C]",
                              .usual_pixels = stretched_pixels,
                              .fit = fit_darknet,
                              .recognises = is_darknet,
                              .attach = attach_darknet};

}  // namespace saccade
