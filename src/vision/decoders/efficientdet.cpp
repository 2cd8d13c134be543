#include <cmath>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// EfficientDet without suppression: of all its anchors (five levels from stride 8 on, three sizes and three aspects a
// cell) the scores [1, A, C] and y, x, log height, log width [1, A, 4] relative to the anchor.
namespace saccade {
namespace {

constexpr float kScale = 4;  ///< of an anchor, in strides
constexpr int kOctaves = 3;
constexpr std::array<std::array<float, 2>, 3> kAspects = {{{1, 1}, {1.4F, 0.7F}, {0.7F, 1.4F}}};  ///< width, height
const std::vector<int> kStrides = {8, 16, 32, 64, 128};
constexpr int kCocoNumbers = 90;

std::vector<Anchor> anchors_of(const Card& card) {
  std::vector<Anchor> anchors;
  for (int stride : kStrides)
    for (const Anchor& cell : grid_anchors(card, {stride}, {.offset = 0.5F, .ceiling = true}))
      for (int octave = 0; octave < kOctaves; ++octave) {
        const float size = kScale * cell.width * std::exp2(static_cast<float>(octave) / kOctaves);
        for (const auto& [across, down] : kAspects) anchors.push_back({cell.x, cell.y, size * across, size * down});
      }
  return anchors;
}

std::int64_t rows_of(const Card& card) {
  std::int64_t rows = 0;
  for (int stride : kStrides) rows += cells_along(card.width, stride, true) * cells_along(card.height, stride, true);
  return rows * kOctaves * std::ssize(kAspects);
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  std::vector<std::string> names(2);
  std::int64_t classes = 0;
  // The scores are the other output of as many rows; of two alike the names tell.
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    if (!is_list(value.type.shape) || value.type.shape[1] != rows_of(card)) continue;
    const bool anchors = value.name.find("anchor") != std::string::npos;
    if (value.type.shape[2] == 4 && names[1].empty() && !anchors) {
      names[1] = value.name;
    } else if (names[0].empty() && !anchors) {
      names[0] = value.name;
      classes = value.type.shape[2];
    }
  }
  if (names[0].empty() || names[1].empty() || !settle_count(head, classes)) return false;
  head.outputs = names;
  if (head.classes == kCocoNumbers) remap_coco_categories(head, 1);
  return true;
}

/// As Yet-Another-EfficientDet exports it, or of COCO's classes: no other family has so many rows.
bool is_efficientdet(const Graph& /*graph*/, const Card& /*card*/, const Head& head) {
  return head.classes == kCocoNumbers || (head.outputs[0] == "classification" && head.outputs[1] == "regression");
}

/// What is padded is 0 once the mean is taken off.
void pixels(Card& card) {
  stretched_imagenet_pixels(card);
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.pad = {124, 116, 104};
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const std::vector<Anchor> anchors = anchors_of(to.card);
  const ValueId boxes = reorder(post, to.output(1), {1, 0, 3, 2});
  const ValueId centres = points_around(post, post.slice(boxes, 2, 0, 2), anchors);
  const ValueId sizes = post.op("Mul", {post.op("Exp", {post.slice(boxes, 2, 2, 4)}), anchor_sizes(post, anchors)});
  const bool squashed = ends_in(post.graph(), to.head.outputs[0], "Sigmoid");
  to.choose(corners_of(post, centres, sizes), squashed ? to.output(0) : post.op("Sigmoid", {to.output(0)}));
}

}  // namespace

constexpr Decoder kEfficientDet = {.name = "efficientdet",
                                   .reads = "EfficientDet's scores and boxes, relative to its anchors",
                                   .usual_pixels = pixels,
                                   .fit = fit,
                                   .recognises = is_efficientdet,
                                   .attach = attach};

}  // namespace saccade
