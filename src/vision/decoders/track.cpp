#include <cmath>
#include <numbers>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Trackers of one object that look at its image and at a search image in one network: maps of a score, the box's size
// and the offset of its centre over the search image (OSTrack: Ye et al. 2022; VitTrack of OpenCV).
namespace saccade {
namespace {

constexpr float kTrackThreshold = 0.2F;  // tracking_score_threshold of OpenCV's TrackerVit
constexpr std::int64_t kMostTrackCells = 256;

/// Of CHANNELS over a grid.
bool is_track_map(const Value& value, std::int64_t channels) {
  const Shape& shape = value.type.shape;
  return shape.rank() == 4 && shape[0] == 1 && shape[1] == channels && shape[2] == shape[3] && shape[2] > 1 &&
         shape[2] <= kMostTrackCells;
}

/// The maps that HEAD names, in the order of their roles; else the only ones of these shapes, the size before the
/// offset where their names do not tell.
std::vector<const Value*> track_maps(const Graph& graph, const Head& head) {
  std::vector<const Value*> maps;
  std::vector<const Value*> pairs;
  for (const ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    if (!head.outputs.empty() || is_track_map(value, 1)) maps.push_back(&value);
    if (is_track_map(value, 2)) pairs.push_back(&value);
  }
  if (!head.outputs.empty()) return maps;
  const auto names = [](const Value* value, const char* word) { return value->name.find(word) != std::string::npos; };
  if (pairs.size() == 2 && (names(pairs[0], "offset") || names(pairs[1], "size"))) std::swap(pairs[0], pairs[1]);
  maps.insert(maps.end(), pairs.begin(), pairs.end());
  return maps;
}

bool fit_track(const Graph& graph, const Card& card, Head& head) {
  if (!card.track || card.width != card.height) return false;
  const std::vector<const Value*> maps = track_maps(graph, head);
  if (maps.size() != 3) return false;
  for (std::size_t i = 0; i < maps.size(); ++i)
    if (!is_track_map(*maps[i], i == 0 ? 1 : 2) || maps[i]->type.shape[2] != maps[0]->type.shape[2]) return false;
  if (!set_class_count(head, 1)) return false;
  head.outputs = {maps[0]->name, maps[1]->name, maps[2]->name};
  if (head.labels.empty()) head.labels = {"object"};
  if (head.conf.empty()) head.conf = {kTrackThreshold};
  return true;
}

bool is_track(const Graph& /*graph*/, const Card& /*card*/, const Head& /*head*/) { return true; }

/// The Hann window over SIDE x SIDE cells, without its zeros: cells near the last box are preferred.
std::vector<float> hann_window(std::int64_t side) {
  std::vector<float> line;
  for (std::int64_t i = 1; i <= side; ++i)
    line.push_back(static_cast<float>(
        0.5 * (1 - std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(side + 1)))));
  std::vector<float> window;
  for (const float row : line)
    for (const float column : line) window.push_back(row * column);
  return window;
}

void attach_track(Attachment& to) {
  Fragment& post = to.post;
  const std::int64_t side = post.shape(to.output(0))[2];
  const std::int64_t cells = side * side;
  const ValueId scores =
      post.op("Mul", {post.reshape(to.output(0), {1, cells}), post.floats({1, cells}, hann_window(side))});
  const ValueId best = post.op("ArgMax", {scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  // A NaN anywhere must show, whichever cell ArgMax takes.
  const ValueId score = post.op("ReduceMax", {scores, post.ints({1})}, {{"keepdims", std::int64_t{1}}});
  const auto at_best = [&](std::size_t role) {
    return post.reshape(post.gather(post.reshape(to.output(role), {2, cells}), 1, best), {1, 2});
  };
  const ValueId cell = post.cast(best, DType::kFloat32);
  const ValueId width = post.number(static_cast<float>(side));
  const ValueId row = post.op("Floor", {post.op("Div", {cell, width})});
  const ValueId column = post.op("Sub", {cell, post.op("Mul", {row, width})});
  const ValueId corner = post.reshape(post.concat({column, row}, 0), {1, 2});
  const ValueId centre = post.op("Div", {post.op("Add", {corner, at_best(2)}), width});
  const ValueId half = post.op("Mul", {at_best(1), post.number(0.5F)});
  const ValueId box = post.concat({post.op("Sub", {centre, half}), post.op("Add", {centre, half})}, 1);
  const ValueId pixels = post.op("Mul", {box, post.number(static_cast<float>(to.card.width))});
  to.choose(post.reshape(pixels, {1, 1, 4}), post.reshape(score, {1, 1, 1}));
}

}  // namespace

constexpr Decoder kOsTrack = {
    .name = "ostrack",
    .reads = "maps of a score, a size and an offset for one object (OSTrack, VitTrack of OpenCV)",
    .shapes = "[1, 1, h, h], [1, 2, h, h] and [1, 2, h, h], and two images as inputs",
    .task = Task::kTrack,
    .usual_pixels = stretched_imagenet_pixels,
    .fit = fit_track,
    .recognises = is_track,
    .attach = attach_track,
    .selects_itself = true,
    .uses = {.remap = false, .multi_label = false},
    .assumes =
        "ImageNet preprocessing, and squares of 2 and 4 times the object (input.mean, input.std, "
        "track.target_factor, track.search_factor)"};

}  // namespace saccade
