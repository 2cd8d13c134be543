#include "vision/recognise.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "vision/labels.hpp"

namespace saccade {
namespace {

/// What an output's shape says under one decoder.
struct Fit {
  int classes = 0;
  std::int64_t anchors = 0;
};

std::optional<Fit> fit(Decoder decoder, const Shape& shape) {
  const bool list = shape.rank() == 3 && shape[0] == 1;
  constexpr std::int64_t kMost = 100'000;
  switch (decoder) {
    case Decoder::kYolov8:
      if (!list || shape[1] < 5 || shape[1] > kMost) return std::nullopt;
      return Fit{static_cast<int>(shape[1] - 4), shape[2]};
    case Decoder::kYolov5:
    case Decoder::kYolox:
      if (!list || shape[2] < 6 || shape[2] > kMost) return std::nullopt;
      return Fit{static_cast<int>(shape[2] - 5), shape[1]};
    case Decoder::kEndToEnd:
      if (!list || shape[2] != 6) return std::nullopt;
      return Fit{0, shape[1]};
    case Decoder::kClassify:
      if (shape.rank() < 1 || shape.elements() < 2 || shape.elements() > kMost) return std::nullopt;
      if (std::ranges::count_if(shape, [](std::int64_t dim) { return dim != 1; }) != 1) return std::nullopt;
      return Fit{static_cast<int>(shape.elements()), 0};
  }
  return std::nullopt;
}

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

std::optional<Decoder> decoder_by_shape(const Graph& graph, const Card& card) {
  if (graph.outputs().size() != 1) return std::nullopt;
  const ValueId output = graph.outputs()[0];
  const Shape& shape = graph.value(output).type.shape;
  if (const auto rows = fit(Decoder::kYolov8, shape); rows && !strides_for(card, rows->anchors).empty())
    if (rows->classes == 80 || has_class_rows(graph, output, rows->classes)) return Decoder::kYolov8;
  if (const auto rows = fit(Decoder::kYolov5, shape)) {
    const bool one_a_cell = !strides_for(card, rows->anchors).empty();
    if (one_a_cell && is_raw_head(graph, output)) return Decoder::kYolox;
    const bool three_a_cell = rows->anchors % 3 == 0 && !strides_for(card, rows->anchors / 3).empty();
    if (rows->classes == 80 && (one_a_cell || three_a_cell)) return Decoder::kYolov5;
  }
  if (fit(Decoder::kEndToEnd, shape) && shape[1] <= 1000) return Decoder::kEndToEnd;
  if (fit(Decoder::kClassify, shape)) return Decoder::kClassify;
  return std::nullopt;
}

/// Ultralytics writes names, task, stride, imgsz, end2end, channels (YOLOv5 only names and stride).
std::optional<Decoder> decoder_by_metadata(const Graph& graph, std::size_t names, std::string& why) {
  const auto get = [&](const char* key) {
    const auto found = graph.metadata.find(key);
    return found == graph.metadata.end() ? std::string() : found->second;
  };
  const std::string task = get("task");
  if (task == "classify") return Decoder::kClassify;
  if (!task.empty() && task != "detect") {
    why = fmt::format("its metadata says that its task is '{}', which is not built yet", task);
    return std::nullopt;
  }
  for (ValueId output : graph.outputs()) {
    const Shape& shape = graph.value(output).type.shape;
    for (Decoder decoder : {Decoder::kYolov8, Decoder::kYolov5})
      if (const auto rows = fit(decoder, shape); rows && static_cast<std::size_t>(rows->classes) == names)
        return decoder;
    if (fit(Decoder::kEndToEnd, shape)) return Decoder::kEndToEnd;
  }
  why = fmt::format("its metadata names {} classes, but no output has as many", names);
  return std::nullopt;
}

std::optional<Card> from_metadata(const Graph& graph, std::string& why) {
  const std::vector<std::string> names = parse_python_names(graph.metadata.at("names"));
  const auto decoder = decoder_by_metadata(graph, names.size(), why);
  if (!decoder) return std::nullopt;
  Card card = default_card(*decoder);
  recognise_input(graph, card);
  fit_output(graph, card);
  if (*decoder == Decoder::kClassify) {  // Ultralytics' classifiers take plain 0..1 pixels
    card.mean = {0, 0, 0};
    card.std = {1, 1, 1};
    card.resize_to = std::max(card.width, card.height);
  }
  card.origin = "the model's metadata";
  return card;
}

std::optional<Card> from_shapes(const Graph& graph, std::string& why) {
  Card probe;
  recognise_input(graph, probe);
  const auto decoder = decoder_by_shape(graph, probe);
  if (!decoder) {
    why = "its outputs are not those of a model that Saccade recognises";
    return std::nullopt;
  }
  Card card = default_card(*decoder);
  recognise_input(graph, card);
  fit_output(graph, card);
  if (*decoder == Decoder::kClassify)
    card.assumptions.emplace_back("pixels as ImageNet's models take them (resize, crop, RGB, mean and std)");
  card.origin = "the model's inputs and outputs";
  return card;
}

}  // namespace

Card default_card(Decoder decoder) {
  Card card;
  card.decoder = decoder;
  card.scale = 1.0F / 255;
  card.pad = {114, 114, 114};
  if (decoder == Decoder::kYolox) {
    card.color = ChannelOrder::kBgr;
    card.resize = ResizeMode::kLetterboxTopLeft;
    card.scale = 1;
  } else if (decoder == Decoder::kClassify) {
    card.resize = ResizeMode::kResizeCrop;
    card.pad = {0, 0, 0};
    card.mean = {0.485F, 0.456F, 0.406F};
    card.std = {0.229F, 0.224F, 0.225F};
    card.softmax = true;
  }
  return card;
}

bool is_channels_last(const Shape& image) {
  const auto colors = [&](int axis) { return image[axis] == 3 || image[axis] == 1; };
  return !colors(1) && colors(3);
}

void recognise_input(const Graph& graph, Card& card) {
  if (graph.inputs().size() != 1)
    fail(
        ErrorCode::kUnsupported,
        "the model has {} inputs; only models whose one input is a picture can run on frames yet (`saccade infer` runs "
        "any model on tensors)",
        graph.inputs().size());
  const Value& input = graph.value(graph.inputs()[0]);
  const Shape& shape = input.type.shape;
  const bool last = shape.rank() == 4 && is_channels_last(shape);
  const std::int64_t channels = shape.rank() == 4 ? shape[last ? 3 : 1] : 0;
  if (channels != 3 && channels != 1)
    fail(ErrorCode::kUnsupported, "the model's input '{}' ({}) is not a picture of 3 channels or 1", input.name,
         shape.to_string());
  if (shape[0] != 1)
    fail(ErrorCode::kUnsupported, "the model's input '{}' ({}) takes {} pictures at once; export it with a batch of 1",
         input.name, shape.to_string(), shape[0]);
  const std::int64_t height = shape[last ? 1 : 2];
  const std::int64_t width = shape[last ? 2 : 3];
  if (width < 2 || height < 2 || width > 16384 || height > 16384) {
    const auto size = graph.metadata.find("imgsz");
    fail(ErrorCode::kUnsupported,
         "the model's input '{}' ({}) has no usable size{}; give one: --shape {}=1x{}xHEIGHTxWIDTH", input.name,
         shape.to_string(),
         size == graph.metadata.end() ? "" : fmt::format(" (its metadata says imgsz {})", size->second), input.name,
         channels);
  }
  card.input = input.name;
  card.width = static_cast<int>(width);
  card.height = static_cast<int>(height);
  if (channels == 1) card.color = ChannelOrder::kGray;
  if (card.resize == ResizeMode::kResizeCrop && card.resize_to == 0)
    card.resize_to = (std::max(card.width, card.height) * 256 + 112) / 224;
}

void fit_output(const Graph& graph, Card& card) {
  std::string seen;
  for (ValueId output : graph.outputs()) {
    const Value& value = graph.value(output);
    seen += fmt::format("{}{} ({})", seen.empty() ? "" : ", ", value.name, value.type.shape.to_string());
    if (!card.output.empty() && card.output != value.name) continue;
    const auto fitted = fit(card.decoder, value.type.shape);
    if (!fitted) continue;
    if (card.decoder == Decoder::kYolox) {
      if (card.strides.empty()) card.strides = strides_for(card, fitted->anchors);
      if (cells(card, card.strides) != fitted->anchors) continue;
    }
    card.output = value.name;
    card.classes = fitted->classes;
    if (card.decoder == Decoder::kClassify) card.softmax = makers(graph, output) != std::set<std::string>{"Softmax"};
    return;
  }
  fail(ErrorCode::kInvalidFile, "the decoder {} fits no output{} of the model: it has {}", to_string(card.decoder),
       card.output.empty() ? "" : fmt::format(" '{}'", card.output), seen);
}

std::optional<Card> recognise(const Graph& graph, std::string& why) {
  return graph.metadata.contains("names") ? from_metadata(graph, why) : from_shapes(graph, why);
}

}  // namespace saccade
