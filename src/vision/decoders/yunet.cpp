#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// YuNet (OpenCV's FaceDetectorYN): of every level cls_S and obj_S [1, N, 1], bbox_S [1, N, 4] (centre from the cell's
// corner in strides, logarithm of the size) and kps_S [1, N, 10]; a score is the root of class times objectness.
namespace saccade {
namespace {

constexpr const char* kKinds[] = {"cls", "obj", "bbox", "kps"};
constexpr std::int64_t kColumns[] = {1, 1, 4, 10};

bool fit(const Graph& graph, const Card& card, Head& head) {
  if (head.strides.empty()) head.strides = {8, 16, 32};
  std::vector<std::string> names;
  for (std::size_t kind = 0; kind < 4; ++kind) {
    for (int stride : head.strides) {
      const Value* value =
          find_role(graph, head, names.size(), std::string(kKinds[kind]) + "_" + std::to_string(stride));
      if (value == nullptr || value->type.shape != Shape{1, cells(card, {stride}), kColumns[kind]}) return false;
      names.push_back(value->name);
    }
  }
  head.outputs = names;
  head.keypoints = 5;
  if (head.labels.empty()) head.labels = {"face"};
  return set_class_count(head, 1);
}

bool is_yunet(const Graph& graph, const Card& /*card*/, const Head& head) { return reads_all(graph, head); }

void pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.scale = 1;
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const auto unit = [&](ValueId value) { return post.op("Clip", {value, post.number(0), post.number(1)}); };
  const ValueId scores = post.op("Sqrt", {post.op("Mul", {unit(joined_levels(to, 0)), unit(joined_levels(to, 1))})});
  const std::vector<Anchor> grid = grid_anchors(to.card, to.head.strides);
  const ValueId boxes = joined_levels(to, 2);
  const ValueId centres = points_around(post, post.slice(boxes, 2, 0, 2), grid);
  const ValueId sizes = post.op("Mul", {post.op("Exp", {post.slice(boxes, 2, 2, 4)}), anchor_sizes(post, grid)});
  const auto objects = to.choose(corners_of(post, centres, sizes), scores);
  to.add_keypoints(post.gather(points_around(post, joined_levels(to, 3), grid), 1, objects.anchors), 2);
}

}  // namespace

constexpr Decoder kYunet = {.name = "yunet",
                            .reads = "YuNet's cls, obj, bbox and kps, per level",
                            .shapes = "[1, a, 1], [1, a, 1], [1, a, 4] and [1, a, 10] per level, a its cells",
                            .usual_pixels = pixels,
                            .fit = fit,
                            .recognises = is_yunet,
                            .attach = attach,
                            .uses = {.multi_label = false, .strides = true, .keypoints = true}};

}  // namespace saccade
