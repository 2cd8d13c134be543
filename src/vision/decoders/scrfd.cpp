#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/geometry.hpp"
#include "vision/decoders/support.hpp"

// SCRFD (InsightFace): of every level the scores [N, 1], the distances of the boxes' sides [N, 4] and of five points
// [N, 10] in strides from the cells' corners, with or without a batch axis; the points may be missing.
namespace saccade {
namespace {

constexpr std::int64_t kPointNumbers = 10;

std::int64_t rows_of(const Shape& shape) { return shape.elements() / shape.back(); }

/// The readable outputs of COLUMNS numbers per row, the finest level first.
std::vector<const Value*> levels_of(const Graph& graph, const Head& head, std::int64_t columns) {
  std::vector<const Value*> levels;
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    const Shape& shape = value.type.shape;
    if ((shape.rank() == 2 || is_list(shape)) && shape.back() == columns) levels.push_back(&value);
  }
  std::ranges::stable_sort(levels, std::greater{}, [](const Value* value) { return rows_of(value->type.shape); });
  return levels;
}

std::int64_t cells_of(const Card& card, int stride) { return cells(card, {stride}); }

/// Rows a cell; 0: the levels are not those of STRIDES.
std::int64_t rows_a_cell(const Card& card, const std::vector<const Value*>& levels, const std::vector<int>& strides) {
  if (levels.size() != strides.size()) return 0;
  for (std::int64_t rows : {1, 2}) {
    bool all = true;
    for (std::size_t i = 0; i < levels.size(); ++i)
      all = all && rows_of(levels[i]->type.shape) == rows * cells_of(card, strides[i]);
    if (all) return rows;
  }
  return 0;
}

bool fit(const Graph& graph, const Card& card, Head& head) {
  const std::vector<const Value*> scores = levels_of(graph, head, 1);
  const std::vector<const Value*> boxes = levels_of(graph, head, 4);
  const std::vector<const Value*> points = levels_of(graph, head, kPointNumbers);
  std::vector<int> strides = head.strides;
  if (strides.empty()) strides = scores.size() == 5 ? std::vector{8, 16, 32, 64, 128} : std::vector{8, 16, 32};
  const std::int64_t rows = rows_a_cell(card, scores, strides);
  if (rows == 0 || rows_a_cell(card, boxes, strides) != rows || !set_class_count(head, 1)) return false;
  if (!points.empty() && rows_a_cell(card, points, strides) != rows) return false;
  head.outputs.clear();
  for (const auto& levels : {scores, boxes, points})
    for (const Value* level : levels) head.outputs.push_back(level->name);
  head.strides = strides;
  head.keypoints = points.empty() ? 0 : static_cast<int>(kPointNumbers / 2);
  if (head.labels.empty()) head.labels = {"face"};
  return true;
}

bool is_scrfd(const Graph& graph, const Card& /*card*/, const Head& head) {
  return reads_all(graph, head) &&
         std::all_of(head.outputs.begin(), head.outputs.begin() + std::ssize(head.strides),
                     [&](const std::string& name) { return ends_in(graph, name, "Sigmoid"); });
}

void pixels(Card& card) {
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.scale = 1;
  card.mean = {127.5F, 127.5F, 127.5F};
  card.std = {128, 128, 128};
}

/// All levels of outputs FIRST and on, [1, A, columns].
ValueId joined(Attachment& to, std::size_t first) {
  std::vector<ValueId> levels;
  for (std::size_t i = 0; i < to.head.strides.size(); ++i) {
    const ValueId level = to.output(first + i);
    const Shape shape = to.post.shape(level);
    levels.push_back(to.post.reshape(level, {1, rows_of(shape), shape.back()}));
  }
  return to.post.concat(std::move(levels), 1);
}

void attach(Attachment& to) {
  Fragment& post = to.post;
  const std::size_t levels = to.head.strides.size();
  const ValueId scores = joined(to, 0);
  const std::int64_t a_cell = post.shape(scores)[1] / cells(to.card, to.head.strides);
  const std::vector<Anchor> grid = grid_anchors(to.card, to.head.strides, {.anchors = static_cast<int>(a_cell)});
  const auto objects = to.choose(corners_around(post, joined(to, levels), grid), scores);
  if (to.head.keypoints == 0) return;
  const ValueId points = points_around(post, joined(to, 2 * levels), grid);
  to.add_keypoints(post.gather(points, 1, objects.anchors), 2);
}

}  // namespace

constexpr Decoder kScrfd = {.name = "scrfd",
                            .reads = "SCRFD's scores, box distances and five landmarks, per level",
                            .shapes = "[A, 1], [A, 4] and [A, 10] per level, A one or two per cell",
                            .usual_pixels = pixels,
                            .fit = fit,
                            .recognises = is_scrfd,
                            .attach = attach,
                            .uses = {.multi_label = false, .strides = true, .keypoints = true}};

}  // namespace saccade
