#include "vision/decoders.hpp"

#include <algorithm>
#include <set>

#include "vision/card.hpp"

namespace saccade {
namespace {

std::int64_t cells(const Card& card, const std::vector<int>& strides) {
  std::int64_t sum = 0;
  for (int stride : strides) sum += static_cast<std::int64_t>(card.width / stride) * (card.height / stride);
  return sum;
}

/// The usual strides under which the input has ANCHORS cells; empty: none.
std::vector<int> strides_for(const Card& card, std::int64_t anchors) {
  for (const auto& strides : {std::vector{8, 16, 32}, {4, 8, 16, 32}, {8, 16, 32, 64}, {16, 32}, {32}})
    if (cells(card, strides) == anchors) return strides;
  return {};
}

/// Operators that hand elements on as they are.
bool only_moves(const Node& node) {
  static const std::set<std::string, std::less<>> kMoves = {
      "Transpose", "Reshape", "Concat", "Flatten", "Squeeze",        "Unsqueeze",
      "Identity",  "Slice",   "Split",  "Cast",    "QuantizeLinear", "DequantizeLinear"};
  return node.domain.empty() && kMoves.contains(node.op);
}

/// The operators that made a value's elements, behind whatever only moves them.
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

/// A YOLOX head as it comes out of its convolutions: nothing was decoded in the graph.
bool is_raw_head(const Graph& graph, ValueId output) {
  const std::set<std::string> by = makers(graph, output);
  return by == std::set<std::string>{"Conv", "Sigmoid"};
}

/// Whether all rows past the box are one sigmoid's. Keypoints, masks and angles, which share the layout, are not.
bool has_class_rows(const Graph& graph, ValueId output, std::int64_t classes) {
  const Node* node = graph.producer(output);
  while (node != nullptr && node->op != "Concat" && only_moves(*node)) node = graph.producer(node->inputs.at(0));
  if (node == nullptr || node->op != "Concat") return false;
  return std::ranges::any_of(node->inputs, [&](ValueId input) {
    const Shape& shape = graph.value(input).type.shape;
    return shape.rank() == 3 && shape[1] == classes && makers(graph, input) == std::set<std::string>{"Sigmoid"};
  });
}

/// At most so many classes: more is another kind of output.
constexpr std::int64_t kMost = 100'000;

bool is_list(const Shape& shape) { return shape.rank() == 3 && shape[0] == 1; }

/// 1 x (4 + classes) x anchors.
std::optional<OutputFit> fit_columns(const Shape& shape) {
  if (!is_list(shape) || shape[1] < 5 || shape[1] > kMost) return std::nullopt;
  return OutputFit{static_cast<int>(shape[1] - 4), shape[2]};
}

/// 1 x anchors x (5 + classes).
std::optional<OutputFit> fit_rows(const Shape& shape) {
  if (!is_list(shape) || shape[2] < 6 || shape[2] > kMost) return std::nullopt;
  return OutputFit{static_cast<int>(shape[2] - 5), shape[1]};
}

std::optional<OutputFit> fit_chosen(const Shape& shape) {
  if (!is_list(shape) || shape[2] != 6) return std::nullopt;
  return OutputFit{0, shape[1]};
}

std::optional<OutputFit> fit_vector(const Shape& shape) {
  if (shape.rank() < 1 || shape.elements() < 2 || shape.elements() > kMost) return std::nullopt;
  if (std::ranges::count_if(shape, [](std::int64_t dim) { return dim != 1; }) != 1) return std::nullopt;
  return OutputFit{static_cast<int>(shape.elements()), 0};
}

bool is_yolov8(const Graph& graph, const Card& card, ValueId output, const OutputFit& fit) {
  if (strides_for(card, fit.anchors).empty()) return false;
  return fit.classes == 80 || has_class_rows(graph, output, fit.classes);
}

bool is_yolox(const Graph& graph, const Card& card, ValueId output, const OutputFit& fit) {
  return !strides_for(card, fit.anchors).empty() && is_raw_head(graph, output);
}

/// Three anchors a cell, or one; other rows of the kind carry keypoints, so only COCO's 80 are beyond doubt.
bool is_yolov5(const Graph& /*graph*/, const Card& card, ValueId /*output*/, const OutputFit& fit) {
  const bool one_a_cell = !strides_for(card, fit.anchors).empty();
  const bool three_a_cell = fit.anchors % 3 == 0 && !strides_for(card, fit.anchors / 3).empty();
  return fit.classes == 80 && (one_a_cell || three_a_cell);
}

bool is_chosen(const Graph& /*graph*/, const Card& /*card*/, ValueId /*output*/, const OutputFit& fit) {
  return fit.anchors <= 1000;
}

bool is_vector(const Graph& /*graph*/, const Card& /*card*/, ValueId /*output*/, const OutputFit& /*fit*/) {
  return true;
}

void ultralytics_pixels(Card& card) {
  card.resize = ResizeMode::kLetterbox;
  card.pad = {114, 114, 114};
  card.scale = 1.0F / 255;
}

void yolox_pixels(Card& card) {
  card.color = ChannelOrder::kBgr;
  card.resize = ResizeMode::kLetterboxTopLeft;
  card.pad = {114, 114, 114};
  card.scale = 1;
}

void imagenet_pixels(Card& card) {
  card.resize = ResizeMode::kResizeCrop;
  card.scale = 1.0F / 255;
  card.mean = {0.485F, 0.456F, 0.406F};
  card.std = {0.229F, 0.224F, 0.225F};
}

bool settle_strides(const Graph& /*graph*/, ValueId /*output*/, const OutputFit& fit, Card& card) {
  if (card.strides.empty()) card.strides = strides_for(card, fit.anchors);
  return cells(card, card.strides) == fit.anchors;
}

bool settle_softmax(const Graph& graph, ValueId output, const OutputFit& /*fit*/, Card& card) {
  card.softmax = makers(graph, output) != std::set<std::string>{"Softmax"};
  return true;
}

void yolox_attributes(const Card& card, Attributes& attributes) {
  attributes.set("strides", std::vector<std::int64_t>(card.strides.begin(), card.strides.end()));
  attributes.set("width", std::int64_t{card.width});
  attributes.set("height", std::int64_t{card.height});
}

constexpr Decoder kDecoders[] = {
    {.name = "yolov8",
     .op = "DecodeYolov8",
     .fit = fit_columns,
     .recognises = is_yolov8,
     .usual_pixels = ultralytics_pixels},
    {.name = "yolox",
     .op = "DecodeYolox",
     .fit = fit_rows,
     .recognises = is_yolox,
     .usual_pixels = yolox_pixels,
     .settle = settle_strides,
     .attributes = yolox_attributes},
    {.name = "yolov5",
     .op = "DecodeYolov5",
     .fit = fit_rows,
     .recognises = is_yolov5,
     .usual_pixels = ultralytics_pixels},
    {.name = "yolo-e2e",
     .op = "DecodeEndToEnd",
     .selects_itself = true,
     .fit = fit_chosen,
     .recognises = is_chosen,
     .usual_pixels = ultralytics_pixels},
    {.name = "classify",
     .task = Task::kClassify,
     .op = "TopClasses",
     .fit = fit_vector,
     .recognises = is_vector,
     .usual_pixels = imagenet_pixels,
     .settle = settle_softmax},
};

}  // namespace

std::span<const Decoder> decoders() { return kDecoders; }

const Decoder* find_decoder(std::string_view name) {
  const auto found = std::ranges::find(kDecoders, name, &Decoder::name);
  return found == std::end(kDecoders) ? nullptr : found;
}

}  // namespace saccade
