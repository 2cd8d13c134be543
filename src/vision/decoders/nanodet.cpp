#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// NanoDet and NanoDet-Plus: rows [1, A, C + 4 * R] of scores and, for each side of the box, R logits of a distribution
// over 0..R - 1 strides ("generalised focal loss"; Li et al., 2020). NanoDet has strides 8, 16, 32 and points at cell
// centres, NanoDet-Plus strides 8, 16, 32, 64 and points at cell corners. Or separate outputs per level: scores
// [1, a, C] and logits [1, a, 4 * R] (cls_pred_stride_S, dis_pred_stride_S). PicoDet without its post-processing has
// the latter on NanoDet-Plus' levels, but points at cell centres.
namespace saccade {
namespace {

constexpr std::int64_t kUsualBins = 8;
const std::vector<int> kUsualStrides[] = {{8, 16, 32}, {8, 16, 32, 64}};

std::vector<int> levels_for(const Card& card, std::int64_t rows) {
  for (const auto& strides : kUsualStrides)
    if (cells_rounded_up(card, strides) == rows) return strides;
  return {};
}

bool are_sides(std::int64_t columns) { return columns % 4 == 0 && columns >= 8; }

bool fit_joined(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (!is_list(shape)) return false;
    if (to.strides.empty()) to.strides = levels_for(card, shape[1]);
    if (to.strides.empty() || cells_rounded_up(card, to.strides) != shape[1]) return false;
    if (!assume_classes(to, shape[2] - 4 * kUsualBins)) return false;
    return are_sides(shape[2] - to.classes);
  });
}

bool named(const Value& value, std::string_view word) { return value.name.find(word) != std::string::npos; }

/// The only two readable outputs with the rows of a level, scores first: by name, else by width, else by order. Empty:
/// no such level.
std::vector<const Value*> level_of(const Graph& graph, const Card& card, const Head& head, int stride) {
  std::vector<const Value*> level;
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    if (is_list(value.type.shape) && value.type.shape[1] == cells_rounded_up(card, {stride})) level.push_back(&value);
  }
  if (level.size() != 2) return {};
  const auto width = [&](std::size_t i) { return level[i]->type.shape[2]; };
  const bool usual = width(0) == 4 * kUsualBins && width(1) != 4 * kUsualBins && !named(*level[0], "cls_pred");
  if (usual || named(*level[0], "dis_pred")) std::swap(level[0], level[1]);
  return level;
}

/// Separate outputs: the scores of all levels, then the sides of all levels.
bool fit_levels(const Graph& graph, const Card& card, Head& head, const std::vector<int>& strides) {
  std::vector<std::string> scores;
  std::vector<std::string> sides;
  Shape first;  // of one level: its classes, and the sides' columns
  for (int stride : strides) {
    const std::vector<const Value*> level = level_of(graph, card, head, stride);
    if (level.empty()) return false;
    const Shape columns{level[0]->type.shape[2], level[1]->type.shape[2]};
    if (scores.empty()) first = columns;
    if (columns != first) return false;
    scores.push_back(level[0]->name);
    sides.push_back(level[1]->name);
  }
  if (scores.empty() || !are_sides(first[1]) || !set_class_count(head, first[0])) return false;
  head.strides = strides;
  head.outputs = scores;
  head.outputs.insert(head.outputs.end(), sides.begin(), sides.end());
  return true;
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  if (fit_joined(graph, card, head)) return true;
  if (!head.strides.empty()) return fit_levels(graph, card, head, std::vector<int>(head.strides));
  // Four levels before three, which they contain.
  return fit_levels(graph, card, head, kUsualStrides[1]) || fit_levels(graph, card, head, kUsualStrides[0]);
}

/// Each level concatenates scores from a sigmoid and logits, in this order; YOLOX has its boxes first.
bool joins_scores_first(const Graph& graph, ValueId output) {
  const std::vector<ValueId> levels = parts(graph, output);
  if (levels.empty()) return false;
  const std::vector<ValueId> joined = parts(graph, levels.front());
  return joined.size() == 2 && makers(graph, joined[0]) == std::set<std::string>{"Sigmoid"} &&
         makers(graph, joined[1]) == std::set<std::string>{"Conv"};
}

/// The outputs alternate between scores and sides.
bool gives_pairs(const Graph& graph) {
  const auto rows = [&](std::size_t i) { return graph.value(graph.data_outputs()[i]).type.shape[1]; };
  for (std::size_t i = 0; i + 1 < graph.data_outputs().size(); i += 2)
    if (rows(i) != rows(i + 1)) return false;
  return true;
}

/// By their names; or by COCO's 80 probabilities per row, on three levels or alternating: PicoDet, with other
/// preprocessing and points, has four levels and all scores first.
bool are_levels(const Graph& graph, const Head& head) {
  const std::size_t levels = head.strides.size();
  bool by_names = true;
  bool squashed = true;
  for (std::size_t i = 0; i < levels; ++i) {
    by_names = by_names && named(graph.value(output_of(graph, head, i)), "cls_pred_stride_") &&
               named(graph.value(output_of(graph, head, levels + i)), "dis_pred_stride_");
    squashed = squashed && ends_in(graph, head.outputs[i], "Sigmoid");
  }
  const bool usual = head.classes == 80 && graph.value(output_of(graph, head, levels)).type.shape[2] == 4 * kUsualBins;
  return by_names || (usual && squashed && (levels == 3 || gives_pairs(graph)));
}

bool fit_picodet_heads(const Graph& graph, const Card& card, Head& head) {
  return (head.strides.empty() || head.strides == kUsualStrides[1]) && fit_levels(graph, card, head, kUsualStrides[1]);
}

/// By the name of PaddleDetection's image, and all scores first.
bool are_picodet_heads(const Graph& graph, const Card& card, const Head& head) {
  if (!reads_all(graph, head) || card.input != "image" || gives_pairs(graph)) return false;
  const std::size_t levels = head.strides.size();
  return std::ranges::all_of(head.outputs.begin(), head.outputs.begin() + std::ssize(head.strides),
                             [&](const std::string& name) { return ends_in(graph, name, "Sigmoid"); }) &&
         graph.value(output_of(graph, head, levels)).type.shape[2] == 4 * kUsualBins;
}

/// By its structure, or by COCO's 80 classes on four levels, which YOLOX does not have.
bool is_nanodet(const Graph& graph, const Card& /*card*/, const Head& head) {
  const ValueId output = output_of(graph, head);
  if (!reads_all(graph, head)) return false;
  if (head.outputs.size() > 1) return are_levels(graph, head);
  if (head.classes != graph.value(output).type.shape[2] - 4 * kUsualBins) return false;
  return (head.classes == 80 && head.strides.size() == 4) || joins_scores_first(graph, output);
}

void pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kStretch;
  card.scale = 1;
  card.mean = {103.53F, 116.28F, 123.675F};
  card.std = {57.375F, 57.12F, 58.395F};
}

/// Boxes from the means of the distributions.
void choose_means(Attachment& to, ValueId scores, ValueId sides, std::int64_t bins, const std::vector<Anchor>& grid) {
  Fragment& post = to.post;
  const std::int64_t rows = post.shape(sides)[1];
  std::vector<float> distances;
  for (std::int64_t i = 0; i < bins; ++i) distances.push_back(static_cast<float>(i));
  const ValueId probabilities =
      post.op("Softmax", {post.reshape(sides, {1, rows, 4, bins})}, {{"axis", std::int64_t{3}}});
  const ValueId mean = post.op("MatMul", {probabilities, post.floats({bins, 1}, distances)});
  to.choose(corners_around(post, post.reshape(mean, {1, rows, 4}), grid), scores);
}

void attach_picodet_heads(Attachment& to) {
  const ValueId sides = joined_levels(to, 1);
  choose_means(to, joined_levels(to, 0), sides, to.post.shape(sides)[2] / 4,
               grid_anchors(to.card, to.head.strides, {.offset = 0.5F, .ceiling = true}));
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const bool apart = to.head.outputs.size() > 1;
  const std::int64_t classes = to.head.output_classes();
  const ValueId rows = apart ? ValueId::kNone : to.output(0);
  const ValueId scores = apart ? joined_levels(to, 0) : post.slice(rows, 2, 0, classes);
  const ValueId sides = apart ? joined_levels(to, 1) : post.slice(rows, 2, classes, post.shape(rows)[2]);
  const bool plus = to.head.strides.size() > 3;
  choose_means(to, scores, sides, post.shape(sides)[2] / 4,
               grid_anchors(to.card, to.head.strides, {.offset = plus ? 0.0F : 0.5F, .ceiling = true}));
}

}  // namespace

constexpr Decoder kNanodet = {
    .name = "nanodet",
    .reads = "scores and box-side distributions, joined or per level (NanoDet, NanoDet-Plus)",
    .shapes = "[1, A, C + 4R], A cells of strides 8, 16, 32 (and 64), or [1, a, C] and [1, a, 4R] per level",
    .usual_pixels = pixels,
    .fit = fit,
    .recognises = is_nanodet,
    .attach = attach,
    .uses = {.strides = true}};

constexpr Decoder kPicoDetHeads = {.name = "picodet-heads",
                                   .reads = "PicoDet's scores and box-side distributions per level",
                                   .shapes = "[1, a, C] and [1, a, 4R] per level of strides 8, 16, 32, 64",
                                   .usual_pixels = paddle_imagenet_pixels,
                                   .fit = fit_picodet_heads,
                                   .recognises = are_picodet_heads,
                                   .attach = attach_picodet_heads,
                                   .uses = {.strides = true}};

}  // namespace saccade
