#include <algorithm>
#include <cmath>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// EfficientDet without NMS: scores [1, A, C] and y, x, log height, log width [1, A, 4] relative to the anchors (five
// levels from stride 8, three sizes and three aspect ratios per cell); or undecoded outputs per level: logits
// [1, 9 * C, h, w] and boxes [1, 36, h, w], channels first or last.
namespace saccade {
namespace {

constexpr int kOctaves = 3;
constexpr std::array<std::array<float, 2>, 3> kAspects = {{{1, 1}, {1.4F, 0.7F}, {0.7F, 1.4F}}};  ///< width, height
const std::vector<int> kStrides = {8, 16, 32, 64, 128};
constexpr int kFromOne = kCocoNumbers - 1;  ///< COCO's category IDs without 0

/// Anchor size in cells: smaller in automl's Lite models, larger in D7.
float scale_for(const Card& card) {
  const int side = std::max(card.width, card.height);
  if (side < 512) return 3;
  return side < 1536 ? 4 : 5;
}

/// The cells of a level divide the image evenly: they are smaller than the stride if it does not divide the size.
std::vector<Anchor> cells_of(const Card& card, int stride) {
  std::vector<Anchor> cells;
  const std::int64_t columns = cells_along(card.width, stride, true);
  const std::int64_t rows = cells_along(card.height, stride, true);
  const float width = static_cast<float>(card.width) / static_cast<float>(columns);
  const float height = static_cast<float>(card.height) / static_cast<float>(rows);
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x)
      cells.push_back({(static_cast<float>(x) + 0.5F) * width, (static_cast<float>(y) + 0.5F) * height, width, height});
  return cells;
}

std::vector<Anchor> anchors_of(const Card& card) {
  std::vector<Anchor> anchors;
  for (int stride : kStrides)
    for (const Anchor& cell : cells_of(card, stride))
      for (int octave = 0; octave < kOctaves; ++octave) {
        const float size = scale_for(card) * std::exp2(static_cast<float>(octave) / kOctaves);
        for (const auto& [across, down] : kAspects)
          anchors.push_back({cell.x, cell.y, cell.width * size * across, cell.height * size * down});
      }
  return anchors;
}

constexpr std::int64_t kACell = kOctaves * std::ssize(kAspects);

/// Numbers per cell of a level [1, numbers, h, w] or [1, h, w, numbers] of STRIDE; 0: not such a level.
std::int64_t numbers_a_cell(const Shape& shape, const Card& card, int stride, bool last) {
  const int at = last ? 1 : 2;
  const bool is_level = shape.rank() == 4 && shape[0] == 1 && shape[at] == cells_along(card.height, stride, true) &&
                        shape[at + 1] == cells_along(card.width, stride, true);
  return is_level ? shape[last ? 3 : 1] : 0;
}

/// The levels' logits, then their boxes, finest first.
bool fit_levels(const Graph& graph, const Card& card, Head& head, bool last) {
  std::vector<std::string> logits;
  std::vector<std::string> boxes;
  std::int64_t classes = 0;
  for (int stride : kStrides) {
    for (ValueId output : readable_outputs(graph, head)) {
      const Value& value = graph.value(output);
      const std::int64_t numbers = numbers_a_cell(value.type.shape, card, stride, last);
      if (numbers == 4 * kACell) {
        boxes.push_back(value.name);
      } else if (numbers > 0 && numbers % kACell == 0 && (classes == 0 || numbers == classes * kACell)) {
        logits.push_back(value.name);
        classes = numbers / kACell;
      }
    }
  }
  if (logits.size() != kStrides.size() || boxes.size() != kStrides.size() || !set_class_count(head, classes))
    return false;
  head.outputs = logits;
  head.outputs.insert(head.outputs.end(), boxes.begin(), boxes.end());
  return true;
}

bool fit_rows(const Graph& graph, const Card& card, Head& head) {
  std::vector<std::string> names(2);
  std::int64_t classes = 0;
  // The scores are the other output with A rows; equal shapes are distinguished by name.
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    if (!is_list(value.type.shape) || value.type.shape[1] != kACell * cells_rounded_up(card, kStrides)) continue;
    const bool anchors = value.name.find("anchor") != std::string::npos;
    if (value.type.shape[2] == 4 && names[1].empty() && !anchors) {
      names[1] = value.name;
    } else if (names[0].empty() && !anchors) {
      names[0] = value.name;
      classes = value.type.shape[2];
    }
  }
  if (names[0].empty() || names[1].empty() || !set_class_count(head, classes)) return false;
  head.outputs = names;
  return true;
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  if (!fit_rows(graph, card, head) && !fit_levels(graph, card, head, false) && !fit_levels(graph, card, head, true))
    return false;
  if (head.classes == kFromOne) remap_coco_categories(head, 1);
  return true;
}

/// By the names of Yet-Another-EfficientDet, or by COCO's classes: no other family has as many rows. In D0 to D7 the
/// strides divide the size; smaller models have other preprocessing.
bool is_efficientdet(const Graph& /*graph*/, const Card& card, const Head& head) {
  if (card.width % 128 != 0 || card.height % 128 != 0 || std::min(card.width, card.height) < 512) return false;
  return head.classes == kFromOne || (head.outputs[0] == "classification" && head.outputs[1] == "regression");
}

/// Padding is 0 after normalisation.
void pixels(Card& card) {
  stretched_imagenet_pixels(card);
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.pad = {124, 116, 104};
}

/// The rows [1, A, NUMBERS] of the outputs from index FIRST: of one, or of all levels.
ValueId rows_of(Attachment& to, std::size_t first, std::int64_t numbers) {
  if (to.head.outputs.size() == 2) return to.output(first);
  std::vector<ValueId> levels;
  for (std::size_t i = 0; i < kStrides.size(); ++i) {
    ValueId level = to.output(first * kStrides.size() + i);
    const bool last = numbers_a_cell(to.post.shape(level), to.card, kStrides[i], true) == numbers * kACell;
    if (!last) level = to.post.transpose(level, {0, 2, 3, 1});
    levels.push_back(to.post.reshape(level, {1, to.post.shape(level).elements() / numbers, numbers}));
  }
  return to.post.concat(std::move(levels), 1);
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const std::vector<Anchor> anchors = anchors_of(to.card);
  const ValueId scores = rows_of(to, 0, to.head.output_classes());
  const ValueId boxes = reorder(post, rows_of(to, 1, 4), {1, 0, 3, 2});
  const ValueId centres = points_around(post, post.slice(boxes, 2, 0, 2), anchors);
  const ValueId sizes = post.op("Mul", {post.op("Exp", {post.slice(boxes, 2, 2, 4)}), anchor_sizes(post, anchors)});
  const bool squashed = ends_in(to.model, to.head.outputs[0], "Sigmoid");
  to.choose(corners_of(post, centres, sizes), squashed ? scores : post.op("Sigmoid", {scores}));
}

}  // namespace

constexpr Decoder kEfficientDet = {
    .name = "efficientdet",
    .reads = "EfficientDet's scores and boxes, relative to its anchors",
    .shapes =
        "[1, A, C] and [1, A, 4], A nine per cell of strides 8 to 128, or [1, 9C, h, w] and [1, 36, h, w] per level",
    .usual_pixels = pixels,
    .fit = fit,
    .recognises = is_efficientdet,
    .attach = attach};

}  // namespace saccade
