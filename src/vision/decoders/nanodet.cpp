#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// NanoDet and NanoDet-Plus: rows [1, A, C + 4 * R] of scores and, for each side of the box, R logits of a distribution
// over 0..R - 1 strides ("generalised focal loss"; Li et al., 2020). NanoDet has the levels 8, 16, 32 and its cells'
// middles, NanoDet-Plus 8, 16, 32, 64 and their corners.
namespace saccade {
namespace {

constexpr std::int64_t kUsualBins = 8;

std::vector<int> levels_for(const Card& card, std::int64_t rows) {
  for (const auto& strides : {std::vector{8, 16, 32}, {8, 16, 32, 64}})
    if (cells_rounded_up(card, strides) == rows) return strides;
  return {};
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    if (!is_list(shape)) return false;
    if (to.strides.empty()) to.strides = levels_for(card, shape[1]);
    if (to.strides.empty() || cells_rounded_up(card, to.strides) != shape[1]) return false;
    if (!assume_classes(to, shape[2] - 4 * kUsualBins)) return false;
    const std::int64_t sides = shape[2] - to.classes;
    return sides % 4 == 0 && sides >= 8;
  });
}

/// Each level joins a sigmoid's scores and plain logits, in this order; YOLOX's has its boxes in front.
bool joins_scores_first(const Graph& graph, ValueId output) {
  const std::vector<ValueId> levels = parts(graph, output);
  if (levels.empty()) return false;
  const std::vector<ValueId> joined = parts(graph, levels.front());
  return joined.size() == 2 && makers(graph, joined[0]) == std::set<std::string>{"Sigmoid"} &&
         makers(graph, joined[1]) == std::set<std::string>{"Conv"};
}

/// Told by its structure, or by COCO's 80 classes on four levels, which YOLOX has not.
bool is_nanodet(const Graph& graph, const Card& /*card*/, const Head& head) {
  const ValueId output = output_of(graph, head);
  if (!reads_all(graph, head) || head.classes != graph.value(output).type.shape[2] - 4 * kUsualBins) return false;
  return (head.classes == 80 && head.strides.size() == 4) || joins_scores_first(graph, output);
}

void pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kStretch;
  card.scale = 1;
  card.mean = {103.53F, 116.28F, 123.675F};
  card.std = {57.375F, 57.12F, 58.395F};
}

/// The boxes at the distributions' means.
void choose_means(Attachment& to, ValueId scores, ValueId sides, std::int64_t bins, const std::vector<Anchor>& grid) {
  Fragment& post = to.post;
  const std::int64_t rows = post.shape(sides)[1];
  std::vector<float> distances;
  for (std::int64_t i = 0; i < bins; ++i) distances.push_back(static_cast<float>(i));
  const ValueId shares = post.op("Softmax", {post.reshape(sides, {1, rows, 4, bins})}, {{"axis", std::int64_t{3}}});
  const ValueId mean = post.op("MatMul", {shares, post.floats({bins, 1}, distances)});
  to.choose(corners_around(post, post.reshape(mean, {1, rows, 4}), grid), scores);
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const ValueId rows = to.output(0);
  const Shape shape = post.shape(rows);
  const std::int64_t bins = (shape[2] - to.head.output_classes()) / 4;
  const bool plus = to.head.strides.size() > 3;
  const std::vector<Anchor> grid =
      grid_anchors(to.card, to.head.strides, {.offset = plus ? 0.0F : 0.5F, .ceiling = true});
  choose_means(to, post.slice(rows, 2, 0, to.head.output_classes()),
               post.slice(rows, 2, to.head.output_classes(), shape[2]), bins, grid);
}

}  // namespace

constexpr Decoder kNanodet = {.name = "nanodet",
                              .reads = "scores and distributions of the sides' distances (NanoDet, NanoDet-Plus)",
                              .usual_pixels = pixels,
                              .fit = fit,
                              .recognises = is_nanodet,
                              .attach = attach,
                              .uses = {.strides = true}};

}  // namespace saccade
