#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Small detectors by dog-qiu. Yolo-FastestV2: two levels [1, h, w, 4 * 3 + 3 + C]: the boxes of three anchors, their
// objectness, and probabilities common to the anchors; or both levels, cell by cell, in one [A, 4 * 3 + 3 + C].
// FastestDet: one level [1, 1 + 4 + C, h, w]: objectness, box and
// probabilities, no anchors; the score is objectness^0.6 * probability^0.4.
namespace saccade {
namespace {

constexpr std::int64_t kAnchors = 3;
constexpr std::int64_t kAhead = 5 * kAnchors;  ///< numbers before the classes

/// Of the COCO model: strides 16 and 32, 352 x 352 pixels.
const std::vector<float> kUsualAnchors = {12.64F,  19.39F, 37.88F,  51.48F,  55.71F,  138.31F,
                                          126.91F, 78.23F, 131.57F, 214.55F, 279.92F, 258.87F};

bool is_level(const Shape& shape, const Card& card, int stride) {
  return shape.rank() == 4 && shape[0] == 1 && shape[1] * stride == card.height && shape[2] * stride == card.width &&
         shape[3] > kAhead;
}

/// All cells of both levels in one output.
bool fit_joined_v2(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    const bool is_rows = shape.rank() == 2 || is_list(shape);
    if (!is_rows || shape.elements() != cells(card, {16, 32}) * shape.back()) return false;
    return set_class_count(to, shape.back() - kAhead);
  });
}

bool fit_levels_v2(const Graph& graph, const Card& card, Head& head) {
  std::vector<std::string> names;
  std::int64_t numbers = 0;
  for (int stride : {16, 32}) {
    for (ValueId output : readable_outputs(graph, head)) {
      const Shape& shape = graph.value(output).type.shape;
      if (!is_level(shape, card, stride) || (numbers != 0 && shape[3] != numbers)) continue;
      names.push_back(graph.value(output).name);
      numbers = shape[3];
      break;
    }
  }
  if (names.size() != 2 || !set_class_count(head, numbers - kAhead)) return false;
  head.outputs = names;
  return true;
}

bool fit_v2(const Graph& graph, const Card& card, Head& head) {
  if (!fit_levels_v2(graph, card, head) && !fit_joined_v2(graph, card, head)) return false;
  head.strides = {16, 32};
  if (head.anchors.empty()) head.anchors = kUsualAnchors;
  return head.anchors.size() == kUsualAnchors.size();
}

/// Sigmoids and a softmax, concatenated; the default anchors are those of the COCO model.
bool is_v2(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) && head.classes == 80 && std::ranges::all_of(head.outputs, [&](const auto& name) {
           return makers(graph, find_value(graph, graph.outputs(), name)) ==
                  std::set<std::string>{"Sigmoid", "Softmax"};
         });
}

void plain_bgr(Card& card) {
  stretched_pixels(card);
  card.color = ChannelOrder::kBgr;
}

/// The cells of level I as [1, places, numbers].
ValueId level_v2(Attachment& to, std::size_t i, std::int64_t places) {
  const std::int64_t numbers = kAhead + to.head.output_classes();
  if (to.head.outputs.size() == 2) return to.post.reshape(to.output(i), {1, places, numbers});
  const std::int64_t all = cells(to.card, {16, 32});
  const std::int64_t begin = i == 0 ? 0 : all - places;
  return to.post.slice(to.post.reshape(to.output(0), {1, all, numbers}), 1, begin, begin + places);
}

void attach_v2(Attachment& to) {
  Fragment& post = to.post;
  std::vector<ValueId> boxes;
  std::vector<ValueId> scores;
  std::vector<Anchor> cells;
  std::vector<Anchor> priors;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<Anchor> grid = grid_anchors(to.card, {to.head.strides[i]}, {.anchors = kAnchors});
    const auto rows = static_cast<std::int64_t>(grid.size());
    const std::int64_t places = rows / kAnchors;
    const ValueId level = level_v2(to, i, places);
    const ValueId objectness = post.reshape(post.slice(level, 2, 4 * kAnchors, kAhead), {1, places, kAnchors, 1});
    const ValueId shared = post.reshape(post.slice(level, 2, kAhead, kAhead + to.head.output_classes()),
                                        {1, places, 1, to.head.output_classes()});
    scores.push_back(post.reshape(post.op("Mul", {objectness, shared}), {1, rows, to.head.output_classes()}));
    boxes.push_back(post.reshape(post.slice(level, 2, 0, 4 * kAnchors), {1, rows, 4}));
    for (std::size_t row = 0; row < grid.size(); ++row) {
      const float* size = &to.head.anchors[2 * (kAnchors * i + row % kAnchors)];
      priors.push_back({grid[row].x, grid[row].y, size[0], size[1]});
    }
    cells.insert(cells.end(), grid.begin(), grid.end());
  }
  const ValueId doubled = post.op("Mul", {post.concat(std::move(boxes), 1), post.number(2)});
  const ValueId inside = post.op("Sub", {post.slice(doubled, 2, 0, 2), post.number(0.5F)});
  const ValueId growth = post.slice(doubled, 2, 2, 4);
  const ValueId sizes = post.op("Mul", {post.op("Mul", {growth, growth}), anchor_sizes(post, priors)});
  to.choose(corners_of(post, points_around(post, inside, cells), sizes), post.concat(std::move(scores), 1));
}

bool fit_det(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (shape.rank() != 4 || shape[0] != 1 || shape[2] < 1 || card.height % shape[2] != 0) return false;
    const auto stride = static_cast<int>(card.height / shape[2]);
    if (shape[3] * stride != card.width || !set_class_count(to, shape[1] - 5)) return false;
    to.strides = {stride};
    return true;
  });
}

/// A sigmoid, a box and a softmax, concatenated.
bool is_det(const Graph& graph, const Card& /*card*/, const Head& head) {
  const std::vector<ValueId> joined = parts(graph, output_of(graph, head));
  if (!reads_all(graph, head) || joined.size() != 3) return false;
  const auto channels = [&](std::size_t i) { return graph.value(joined[i]).type.shape[1]; };
  const auto made_by = [&](std::size_t i, const char* op) {
    return makers(graph, joined[i]) == std::set<std::string>{op};
  };
  return channels(0) == 1 && channels(1) == 4 && made_by(0, "Sigmoid") && made_by(2, "Softmax");
}

void attach_det(Attachment& to) {
  Fragment& post = to.post;
  const Shape shape = post.shape(to.output(0));
  const ValueId rows = post.transpose(post.reshape(to.output(0), {1, shape[1], shape[2] * shape[3]}), {0, 2, 1});
  const std::vector<Anchor> cells = grid_anchors(to.card, to.head.strides);
  const ValueId centres = points_around(post, post.op("Tanh", {post.slice(rows, 2, 1, 3)}), cells);
  const ValueId ratios = post.op("Sigmoid", {post.slice(rows, 2, 3, 5)});
  const ValueId sizes = post.op(
      "Mul", {ratios, post.floats({2}, {static_cast<float>(to.card.width), static_cast<float>(to.card.height)})});
  const ValueId objectness = post.op("Pow", {post.slice(rows, 2, 0, 1), post.number(0.6F)});
  const ValueId classes = post.op("Pow", {post.slice(rows, 2, 5, shape[1]), post.number(0.4F)});
  to.choose(corners_of(post, centres, sizes), post.op("Mul", {objectness, classes}));
}

}  // namespace

constexpr Decoder kYoloFastest = {.name = "yolo-fastest",
                                  .reads = "the two levels of Yolo-FastestV2, apart or joined; `anchors`",
                                  .shapes = "[1, h, w, 15 + C] of strides 16 and 32, or [A, 15 + C], A their cells",
                                  .usual_pixels = plain_bgr,
                                  .fit = fit_v2,
                                  .recognises = is_v2,
                                  .attach = attach_v2,
                                  .uses = {.strides = true, .anchors = true}};
constexpr Decoder kFastestDet = {.name = "fastestdet",
                                 .reads = "FastestDet's single level of objectness, box and probabilities",
                                 .shapes = "[1, 5 + C, h, w]",
                                 .usual_pixels = plain_bgr,
                                 .fit = fit_det,
                                 .recognises = is_det,
                                 .attach = attach_det,
                                 .uses = {.strides = true}};

}  // namespace saccade
