#include <algorithm>
#include <array>
#include <map>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// Undecoded YOLO heads, one output per level: x, y, width, height, objectness and one number per class for each anchor,
// [1, anchors * (5 + C), h, w], [1, anchors, h, w, 5 + C], or either with h, w first (Keras). YOLOv3 (Darknet): centre
// sigmoid(x) in its cell, size anchor * exp(w). YOLOv5, v7 and Ultralytics' v3: 2 * sigmoid(x) - 0.5 and
// anchor * (2 * sigmoid(w))^2.
namespace saccade {
namespace {

constexpr std::int64_t kAnchorsACell = 3;

/// The layout of a level in an output.
struct Level {
  int stride = 0;  ///< 0: not a level
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t anchors = 0;  ///< per cell
  std::int64_t numbers = 0;  ///< per anchor
  bool channels_last = false;
};

/// SHAPE as a level with ANCHORS per cell on CARD's image.
Level level_of(const Shape& shape, const Card& card, std::int64_t anchors) {
  if ((shape.rank() != 4 && shape.rank() != 5) || shape[0] != 1) return {};
  for (const bool last : {false, true}) {
    const int at = last ? 1 : 2;
    Level level{.rows = shape[at], .columns = shape[at + 1], .anchors = anchors, .channels_last = last};
    if (level.columns < 1 || card.width % level.columns != 0) continue;
    const auto stride = static_cast<int>(card.width / level.columns);
    if (stride < 4 || stride > 128 || level.rows * stride != card.height) continue;
    const std::int64_t channels = shape[last ? 3 : 1];
    if (shape.rank() == 5 ? channels != anchors : channels % anchors != 0) continue;
    level.numbers = shape.rank() == 5 ? shape[4] : channels / anchors;
    if (level.numbers < 6) continue;
    level.stride = stride;
    return level;
  }
  return {};
}

using AnchorTable = std::map<int, std::vector<float>>;  ///< by stride

/// Darknet's: three levels, and two of v3-tiny.
const AnchorTable kV3 = {
    {8, {10, 13, 16, 30, 33, 23}}, {16, {30, 61, 62, 45, 59, 119}}, {32, {116, 90, 156, 198, 373, 326}}};
const AnchorTable kV3Tiny = {{16, {10, 14, 23, 27, 37, 58}}, {32, {81, 82, 135, 169, 344, 319}}};

/// Anchors of the levels in their order; empty if no table has all of them.
std::vector<float> usual_anchors(const std::vector<int>& strides) {
  std::vector<float> anchors;
  for (int stride : strides) {
    const AnchorTable& table = strides.size() == 2 ? kV3Tiny : kV3;
    const auto found = table.find(stride);
    if (found == table.end()) return {};
    anchors.insert(anchors.end(), found->second.begin(), found->second.end());
  }
  return anchors;
}

/// The head's levels, in the outputs' order.
std::vector<Level> levels_of(const Graph& graph, const Card& card, const Head& head) {
  std::vector<Level> levels;
  const std::vector<ValueId> outputs = readable_outputs(graph, head);
  for (ValueId output : outputs) {
    const std::size_t said = head.anchors.size() / 2;
    const std::int64_t anchors =
        said == 0 || said % outputs.size() != 0 ? kAnchorsACell : static_cast<std::int64_t>(said / outputs.size());
    levels.push_back(level_of(graph.value(output).type.shape, card, anchors));
  }
  return levels;
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  const std::vector<Level> levels = levels_of(graph, card, head);
  std::vector<int> strides;
  for (const Level& level : levels) {
    if (level.stride == 0 || level.numbers != levels[0].numbers || std::ranges::count(strides, level.stride) != 0)
      return false;
    strides.push_back(level.stride);
  }
  if (strides.empty() || (!head.strides.empty() && head.strides != strides)) return false;
  if (!set_class_count(head, levels[0].numbers - 5)) return false;
  head.strides = strides;
  if (head.outputs.empty())
    for (ValueId output : graph.data_outputs()) head.outputs.push_back(graph.value(output).name);
  if (head.anchors.empty()) head.anchors = usual_anchors(strides);
  // Without defaults, the card must name them.
  return head.anchors.empty() ||
         head.anchors.size() == 2 * strides.size() * static_cast<std::size_t>(levels[0].anchors);
}

/// Only the names identify YOLOv3's anchors and arithmetic: layers of Darknet's yolov3.cfg and yolov3-tiny.cfg.
bool is_darknet_v3(const Graph& graph, const Card& /*card*/, const Head& head) {
  const auto named = [&](const std::vector<std::string>& names) {
    std::vector<std::string> outputs = head.outputs;
    std::ranges::sort(outputs);
    return outputs == names;
  };
  return reads_all(graph, head) && !head.anchors.empty() &&
         (named({"082_convolutional", "094_convolutional", "106_convolutional"}) ||
          named({"016_convolutional", "023_convolutional"}));
}

/// A level as [1, rows * columns * anchors, numbers].
ValueId rows_of(Fragment& post, ValueId output, const Level& level) {
  const std::int64_t cells = level.rows * level.columns;
  if (!level.channels_last) {
    const ValueId apart =
        post.shape(output).rank() == 4
            ? post.transpose(post.reshape(output, {1, level.anchors, level.numbers, cells}), {0, 3, 1, 2})
            : post.transpose(post.reshape(output, {1, level.anchors, cells, level.numbers}), {0, 2, 1, 3});
    output = apart;
  }
  return post.reshape(output, {1, cells * level.anchors, level.numbers});
}

/// Cell with stride, and anchor box, of every row.
struct Grid {
  std::vector<Anchor> cells;
  std::vector<Anchor> boxes;
};
Grid grid_of(const Card& card, const Head& head, const std::vector<Level>& levels) {
  Grid grid;
  std::size_t first = 0;
  for (const Level& level : levels) {
    for (const Anchor& cell : grid_anchors(card, {level.stride})) {
      for (std::size_t a = 0; a < static_cast<std::size_t>(level.anchors); ++a) {
        grid.cells.push_back(cell);
        grid.boxes.push_back({cell.x, cell.y, head.anchors[2 * (first + a)], head.anchors[2 * (first + a) + 1]});
      }
    }
    first += static_cast<std::size_t>(level.anchors);
  }
  return grid;
}

/// The rows of all levels and their cells.
struct Rows {
  ValueId raw;
  ValueId sigmoids;  ///< the sigmoid of all
  Grid grid;
};
Rows read_rows(Attachment& to) {
  Fragment& post = to.post;
  const std::vector<Level> levels = levels_of(to.model, to.card, to.head);
  std::vector<ValueId> raw;
  bool squashed = true;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    raw.push_back(rows_of(post, to.output(i), levels[i]));
    squashed = squashed && ends_in(to.model, to.head.outputs[i], "Sigmoid");
  }
  const ValueId all = post.concat(std::move(raw), 1);
  return {all, squashed ? all : post.op("Sigmoid", {all}), grid_of(to.card, to.head, levels)};
}

void choose_rows(Attachment& to, const Rows& rows, ValueId centres, ValueId sizes) {
  Fragment& post = to.post;
  const ValueId objectness = post.slice(rows.sigmoids, 2, 4, 5);
  const ValueId classes = post.slice(rows.sigmoids, 2, 5, 5 + to.head.output_classes());
  to.choose(corners_of(post, centres, sizes), post.op("Mul", {objectness, classes}));
}

void attach_v3(Attachment& to) {
  Fragment& post = to.post;
  const Rows rows = read_rows(to);
  const ValueId centres = points_around(post, post.slice(rows.sigmoids, 2, 0, 2), rows.grid.cells);
  const ValueId growth = post.op("Exp", {post.slice(rows.raw, 2, 2, 4)});
  choose_rows(to, rows, centres, post.op("Mul", {growth, anchor_sizes(post, rows.grid.boxes)}));
}

void attach_v5(Attachment& to) {
  Fragment& post = to.post;
  const Rows rows = read_rows(to);
  const ValueId doubled = post.op("Mul", {rows.sigmoids, post.number(2)});
  const ValueId inside = post.op("Sub", {post.slice(doubled, 2, 0, 2), post.number(0.5F)});
  const ValueId growth = post.slice(doubled, 2, 2, 4);
  choose_rows(to, rows, points_around(post, inside, rows.grid.cells),
              post.op("Mul", {post.op("Mul", {growth, growth}), anchor_sizes(post, rows.grid.boxes)}));
}

void darknet_pixels(Card& card) {
  ultralytics_pixels(card);
  card.pad = {128, 128, 128};
}

}  // namespace

constexpr Decoder kYolov3 = {.name = "yolov3",
                             .reads = "Darknet's undecoded heads, one output per level; `anchors` (YOLOv3, v3-tiny)",
                             .shapes = "per level [1, 3(5 + C), h, w], [1, 3, h, w, 5 + C], or these with h, w first",
                             .usual_pixels = darknet_pixels,
                             .fit = fit,
                             .recognises = is_darknet_v3,
                             .attach = attach_v3,
                             .uses = {.strides = true, .anchors = true}};
constexpr Decoder kYolov5Heads = {
    .name = "yolov5-heads",
    .reads = "undecoded heads, one output per level; `anchors` (YOLOv5, v7)",
    .shapes = "per level [1, 3(5 + C), h, w], [1, 3, h, w, 5 + C], or these with h, w first",
    .usual_pixels = ultralytics_pixels,
    .fit = fit,
    .attach = attach_v5,
    .uses = {.strides = true, .anchors = true}};

}  // namespace saccade
