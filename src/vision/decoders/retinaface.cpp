#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// RetinaFace (biubug6's): boxes [1, A, 4], scores of background and face [1, A, 2] and five points [1, A, 10], relative
// to two prior squares a cell with the variances 0.1 and 0.2.
namespace saccade {
namespace {

constexpr float kCentreVariance = 0.1F;
constexpr float kSizeVariance = 0.2F;

std::vector<Anchor> priors(const Card& card) {
  std::vector<Anchor> anchors;
  for (const auto& [stride, small] : {std::pair{8, 16.0F}, {16, 64.0F}, {32, 256.0F}})
    for (Anchor cell : grid_anchors(card, {stride}, {.offset = 0.5F, .ceiling = true}))
      for (float size : {small, 2 * small}) anchors.push_back({cell.x, cell.y, size, size});
  return anchors;
}

/// Numbers a row of boxes, scores and points.
constexpr std::int64_t kColumns[] = {4, 2, 10};

/// One output of each.
bool fit(const Graph& graph, const Card& card, Head& head) {
  const auto rows = static_cast<std::int64_t>(priors(card).size());
  std::vector<std::string> names;
  for (std::size_t role = 0; role < std::size(kColumns); ++role) {
    for (ValueId output : readable_outputs(graph, head))
      if (graph.value(output).type.shape == Shape{1, rows, kColumns[role]}) names.push_back(graph.value(output).name);
    if (names.size() != role + 1) return false;
  }
  head.outputs = names;
  head.keypoints = 5;
  if (head.labels.empty()) head.labels = {"face"};
  return set_class_count(head, 1);
}

bool is_retinaface(const Graph& graph, const Card& /*card*/, const Head& head) { return reads_all(graph, head); }

void pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.pad = {104, 117, 123};
  card.scale = 1;
  card.mean = {104, 117, 123};
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const std::vector<Anchor> anchors = priors(to.card);
  const ValueId boxes = to.output(0);
  const ValueId centres = points_around(post, post.slice(boxes, 2, 0, 2), anchors, kCentreVariance);
  const ValueId growth = post.op("Exp", {post.op("Mul", {post.slice(boxes, 2, 2, 4), post.number(kSizeVariance)})});
  const ValueId corners = corners_of(post, centres, post.op("Mul", {growth, anchor_sizes(post, anchors)}));
  ValueId scores = to.output(1);
  if (!ends_in(to.model, to.head.outputs[1], "Softmax"))
    scores = post.op("Softmax", {scores}, {{"axis", std::int64_t{2}}});
  const auto objects = to.choose(corners, post.slice(scores, 2, 1, 2));
  const ValueId points = points_around(post, to.output(2), anchors, kCentreVariance);
  to.add_keypoints(post.gather(points, 1, objects.anchors), 2);
}

}  // namespace

constexpr Decoder kRetinaFace = {.name = "retinaface",
                                 .reads = "RetinaFace's boxes, scores and five landmarks, relative to priors",
                                 .shapes = "[1, A, 4], [1, A, 2] and [1, A, 10], A two per cell of strides 8, 16, 32",
                                 .usual_pixels = pixels,
                                 .fit = fit,
                                 .recognises = is_retinaface,
                                 .attach = attach,
                                 .uses = {.multi_label = false, .keypoints = true}};

}  // namespace saccade
