#include "vision/recognise.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "vision/labels.hpp"

namespace saccade {
namespace {

const Decoder* decoder_by_shape(const Graph& graph, const Card& card) {
  if (graph.outputs().size() != 1) return nullptr;
  const ValueId output = graph.outputs()[0];
  const Shape& shape = graph.value(output).type.shape;
  for (const Decoder& decoder : decoders())
    if (const auto fit = decoder.fit(shape); fit && decoder.recognises(graph, card, output, *fit)) return &decoder;
  return nullptr;
}

/// Ultralytics writes names, task, stride, imgsz, end2end, channels (YOLOv5 only names and stride).
const Decoder* decoder_by_metadata(const Graph& graph, std::size_t names, std::string& why) {
  const auto get = [&](const char* key) {
    const auto found = graph.metadata.find(key);
    return found == graph.metadata.end() ? std::string() : found->second;
  };
  const std::string task = get("task");
  if (task == "classify") return find_decoder("classify");
  if (!task.empty() && task != "detect") {
    why = fmt::format("its metadata says that its task is '{}', which is not built yet", task);
    return nullptr;
  }
  for (ValueId output : graph.outputs()) {
    const Shape& shape = graph.value(output).type.shape;
    for (const char* name : {"yolov8", "yolov5", "yolo-e2e"}) {
      const Decoder* decoder = find_decoder(name);
      const auto fit = decoder->fit(shape);
      if (fit && (fit->classes == 0 || static_cast<std::size_t>(fit->classes) == names)) return decoder;
    }
  }
  why = fmt::format("its metadata names {} classes, but no output has as many", names);
  return nullptr;
}

std::optional<Card> from_metadata(const Graph& graph, std::string& why) {
  const std::vector<std::string> names = parse_python_names(graph.metadata.at("names"));
  const Decoder* decoder = decoder_by_metadata(graph, names.size(), why);
  if (decoder == nullptr) return std::nullopt;
  Card card = default_card(*decoder);
  recognise_input(graph, card);
  fit_output(graph, card);
  if (card.task() == Task::kClassify) {  // Ultralytics' classifiers take plain 0..1 pixels
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
  const Decoder* decoder = decoder_by_shape(graph, probe);
  if (decoder == nullptr) {
    why = "its outputs are not those of a model that Saccade recognises";
    return std::nullopt;
  }
  Card card = default_card(*decoder);
  recognise_input(graph, card);
  fit_output(graph, card);
  if (card.task() == Task::kClassify)
    card.assumptions.emplace_back("pixels as ImageNet's models take them (resize, crop, RGB, mean and std)");
  card.origin = "the model's inputs and outputs";
  return card;
}

}  // namespace

Card default_card(const Decoder& decoder) {
  Card card;
  card.decoder = &decoder;
  decoder.usual_pixels(card);
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
    const auto fit = card.decoder->fit(value.type.shape);
    if (!fit || (card.decoder->settle != nullptr && !card.decoder->settle(graph, output, *fit, card))) continue;
    card.output = value.name;
    card.classes = fit->classes;
    return;
  }
  fail(ErrorCode::kInvalidFile, "the decoder {} fits no output{} of the model: it has {}", card.decoder->name,
       card.output.empty() ? "" : fmt::format(" '{}'", card.output), seen);
}

std::optional<Card> recognise(const Graph& graph, std::string& why) {
  return graph.metadata.contains("names") ? from_metadata(graph, why) : from_shapes(graph, why);
}

}  // namespace saccade
