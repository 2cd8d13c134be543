#include "vision/decoders/support.hpp"

#include <algorithm>

#include "vision/decoders/geometry.hpp"
#include "vision/labels/labels.hpp"

namespace saccade {

std::vector<ValueId> readable_outputs(const Graph& graph, const Head& head) {
  if (head.outputs.empty()) return {graph.outputs().begin(), graph.outputs().end()};
  std::vector<ValueId> named;
  for (const std::string& name : head.outputs)
    for (ValueId output : graph.outputs())
      if (graph.value(output).name == name) named.push_back(output);
  return named;
}

const Value* prototypes_of(const Graph& graph, const Head& head) {
  for (ValueId output : readable_outputs(graph, head)) {
    const Value& value = graph.value(output);
    if (value.type.shape.rank() == 4 && value.type.shape[0] == 1) return &value;
  }
  return nullptr;
}

ValueId output_of(const Graph& graph, const Head& head, std::size_t role) {
  return find_value(graph, graph.outputs(), head.outputs.at(role));
}

const Value* find_role(const Graph& graph, const Head& head, std::size_t place, std::string_view word, int rank) {
  const std::vector<ValueId> readable = readable_outputs(graph, head);
  for (std::size_t i = 0; i < readable.size(); ++i) {
    const Value& value = graph.value(readable[i]);
    if (rank != 0 && value.type.shape.rank() != rank) continue;
    if (head.outputs.empty() ? value.name.find(word) != std::string::npos : i == place) return &value;
  }
  return nullptr;
}

ScoresAndBoxes find_scores_and_boxes(const Graph& graph, const Head& head, std::string_view scores,
                                     std::string_view boxes) {
  const auto fits = [](const ScoresAndBoxes& pair) {
    if (pair.scores == nullptr || pair.boxes == nullptr || pair.scores == pair.boxes) return false;
    const Shape& rows = pair.scores->type.shape;
    return is_list(rows) && pair.boxes->type.shape == Shape{1, rows[1], 4};
  };
  const ScoresAndBoxes named{find_role(graph, head, 0, scores), find_role(graph, head, 1, boxes)};
  if (fits(named)) return named;
  std::vector<ScoresAndBoxes> found;
  if (head.outputs.empty())
    for (ValueId first : graph.data_outputs())
      for (ValueId second : graph.data_outputs())
        if (const ScoresAndBoxes pair{&graph.value(first), &graph.value(second)}; fits(pair)) found.push_back(pair);
  return found.size() == 1 ? found[0] : ScoresAndBoxes{};
}

bool ends_in(const Graph& graph, const std::string& output, std::string_view op) {
  return makers(graph, find_value(graph, graph.outputs(), output)) == std::set<std::string>{std::string(op)};
}

void remap_coco_categories(Head& head, int first) {
  if (!head.labels.empty() || !head.remap.empty()) return;
  head.remap.assign(static_cast<std::size_t>(head.classes), -1);
  for (int i = 0; i < static_cast<int>(coco_labels().size()); ++i) {
    const int place = coco_category(i) - first;
    if (place < head.classes) head.remap[static_cast<std::size_t>(place)] = i;
  }
}

bool set_class_count(Head& head, std::int64_t classes) {
  if (classes < 1 || classes > kMostClasses) return false;
  if (head.classes != 0) return head.classes == classes;
  head.classes = static_cast<int>(classes);
  return true;
}

bool assume_classes(Head& head, std::int64_t usual) {
  if (head.classes != 0) return true;
  if (!head.remap.empty()) return set_class_count(head, std::ssize(head.remap));
  return set_class_count(head, head.labels.empty() ? usual : std::ssize(head.labels));
}

int metadata_keypoints(const Graph& graph) {
  const auto said = graph.metadata.find("kpt_shape");
  if (said == graph.metadata.end()) return 0;
  const std::string& text = said->second;
  return std::atoi(text.c_str() + std::min(text.find_first_of("0123456789"), text.size()));
}

bool reads_all(const Graph& graph, const Head& head) { return graph.data_outputs().size() == head.outputs.size(); }

std::int64_t cells(const Card& card, const std::vector<int>& strides) {
  std::int64_t sum = 0;
  for (int stride : strides) sum += static_cast<std::int64_t>(card.width / stride) * (card.height / stride);
  return sum;
}

std::vector<int> strides_for(const Card& card, std::int64_t anchors) {
  for (const auto& strides : {std::vector{8, 16, 32}, {4, 8, 16, 32}, {8, 16, 32, 64}, {16, 32}, {32}})
    if (cells(card, strides) == anchors) return strides;
  return {};
}

namespace {

/// Whether ROWS are A_CELL per cell of at least LEVELS consecutive levels. Convolutions round partial cells up.
bool are_rows_of_levels(const Card& card, std::int64_t rows, std::int64_t a_cell, int levels) {
  for (int first = 4; first <= 32; first *= 2) {
    std::vector<int> strides;
    for (int stride = first; stride <= 128; stride *= 2) {
      strides.push_back(stride);
      if (std::ssize(strides) < levels) continue;
      if (rows == a_cell * cells(card, strides) || rows == a_cell * cells_rounded_up(card, strides)) return true;
    }
  }
  return false;
}

}  // namespace

bool are_cells(const Card& card, std::int64_t rows) { return are_rows_of_levels(card, rows, 1, 1); }

bool are_anchors(const Card& card, std::int64_t rows) {
  if (are_cells(card, rows)) return true;
  for (std::int64_t a_cell = 2; a_cell <= 6; ++a_cell)
    if (are_rows_of_levels(card, rows, a_cell, 2)) return true;
  return false;
}

ValueId joined_levels(Attachment& to, std::size_t kind) {
  const std::size_t count = to.head.strides.size();
  std::vector<ValueId> levels;
  for (std::size_t i = 0; i < count; ++i) levels.push_back(to.output(kind * count + i));
  return to.post.concat(std::move(levels), 1);
}

bool only_moves(const Node& node) {
  // operator list: what exporters put between a head and an output.
  static const std::set<std::string, std::less<>> kMoves = {
      "Transpose", "Reshape", "Concat", "Flatten", "Squeeze",        "Unsqueeze",
      "Identity",  "Slice",   "Split",  "Cast",    "QuantizeLinear", "DequantizeLinear"};
  return node.domain.empty() && kMoves.contains(node.op);
}

std::set<std::string> makers(const Graph& graph, ValueId value) {
  std::set<std::string> found;
  std::set<ValueId> seen;
  std::vector<ValueId> pending{value};
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    const Node* node = graph.producer(id);
    if (node == nullptr || !seen.insert(id).second) continue;
    if (!only_moves(*node)) {
      found.insert(node->op);
    } else if (node->op == "Concat") {
      pending.insert(pending.end(), node->inputs.begin(), node->inputs.end());
    } else {
      pending.push_back(node->inputs.at(0));
    }
  }
  return found;
}

std::vector<ValueId> parts(const Graph& graph, ValueId value) {
  const Node* node = graph.producer(value);
  while (node != nullptr && node->op != "Concat" && only_moves(*node)) node = graph.producer(node->inputs.at(0));
  return node == nullptr || node->op != "Concat" ? std::vector<ValueId>{} : node->inputs;
}

void ultralytics_pixels(Card& card) {
  card.resize = ResizeMode::kLetterbox;
  card.pad = {114, 114, 114};
  card.scale = 1.0F / 255;
}

void imagenet_pixels(Card& card) {
  card.resize = ResizeMode::kResizeCrop;
  card.interpolation = Interpolation::kBilinearAntialias;
  card.scale = 1.0F / 255;
  card.mean = {0.485F, 0.456F, 0.406F};
  card.std = {0.229F, 0.224F, 0.225F};
}

void stretched_pixels(Card& card) {
  card.resize = ResizeMode::kStretch;
  card.scale = 1.0F / 255;
}

void stretched_imagenet_pixels(Card& card) {
  imagenet_pixels(card);
  card.resize = ResizeMode::kStretch;
  card.interpolation = Interpolation::kBilinear;
}

void pillow_pixels(Card& card) {
  stretched_pixels(card);
  card.interpolation = Interpolation::kBilinearAntialias;
}

void pillow_imagenet_pixels(Card& card) {
  stretched_imagenet_pixels(card);
  card.interpolation = Interpolation::kBilinearAntialias;
}

void paddle_pixels(Card& card) {
  stretched_pixels(card);
  card.interpolation = Interpolation::kBicubic;
}

void paddle_imagenet_pixels(Card& card) {
  stretched_imagenet_pixels(card);
  card.interpolation = Interpolation::kBicubic;
}

}  // namespace saccade
