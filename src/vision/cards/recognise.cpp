#include "vision/cards/recognise.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/dispatch.hpp"
#include "vision/decoders/support.hpp"
#include "vision/labels/labels.hpp"

namespace saccade {
namespace {

/// Whether HEAD's decoder takes the outputs of GRAPH, and as many images as CARD has.
bool fits(const Graph& graph, const Card& card, Head& head) {
  return (head.decoder->task == Task::kTrack) == card.track.has_value() && head.decoder->fit(graph, card, head);
}

std::optional<Head> fitted(const Graph& graph, const Card& card, const Decoder& decoder) {
  Head head{.decoder = &decoder};
  if (fits(graph, card, head)) return head;
  return std::nullopt;
}

/// A card with DECODER's default preprocessing and a fitted head. PROBE has the input.
Card card_with(const Graph& graph, const Decoder& decoder) {
  Card card = default_card(decoder);
  recognise_input(graph, card);
  fit_output(graph, card, card.heads.front());
  return card;
}

const Decoder* decoder_by_structure(const Graph& graph, const Card& probe) {
  for (const Decoder* decoder : decoders()) {
    if (decoder->recognises == nullptr) continue;
    const auto head = fitted(graph, probe, *decoder);
    if (head && decoder->recognises(graph, probe, *head)) return decoder;
  }
  return nullptr;
}

/// The task in Ultralytics' metadata, or all tasks that it leaves open, as YOLOv5's does; empty: unknown.
std::vector<Task> tasks_of(const Graph& graph) {
  const auto found = graph.metadata.find("task");
  if (found == graph.metadata.end()) return {Task::kDetect, Task::kSegment, Task::kClassify};
  for (std::size_t i = 0; i < kTasks; ++i)
    if (to_string(static_cast<Task>(i)) == found->second) return {static_cast<Task>(i)};
  return {};
}

/// Ultralytics writes names, task, stride, imgsz, end2end, channels (YOLOv5 only names and stride).
const Decoder* decoder_by_metadata(const Graph& graph, const Card& probe, std::string& why) {
  const std::vector<Task> tasks = tasks_of(graph);
  if (tasks.empty()) {
    why = fmt::format("its metadata declares the task '{}', which is not supported", graph.metadata.at("task"));
    return nullptr;
  }
  const int classes = metadata_classes(graph);
  for (const Task task : tasks) {
    for (const std::string_view name :
         {"yolov8", "yolov8-seg", "yolov8-pose", "yolov8-obb", "yolov5", "yolov5-seg", "rtdetr-rows", "rtdetr-e2e",
          "yolo-e2e", "yolo-e2e-seg", "yolo-e2e-pose", "yolo-e2e-obb", "classify", "semantic", "depth"}) {
      const Decoder* decoder = find_decoder(name);
      if (decoder == nullptr || decoder->task != task) continue;
      Head head{.decoder = decoder, .classes = classes};
      if (!fits(graph, probe, head)) continue;
      // RT-DETR's rows of six have the shape of YOLO's.
      if (name == "rtdetr-e2e" && !decoder->recognises(graph, probe, head)) continue;
      return decoder;
    }
  }
  if (tasks.size() == 1)
    why = fmt::format("its metadata declares the task '{}' with {} classes, but no output matches", to_string(tasks[0]),
                      classes);
  else
    why = fmt::format(
        "its metadata names {} classes and no task, but no output detects, segments or classifies that many", classes);
  return nullptr;
}

/// What Ultralytics does where a decoder's defaults are other exporters'.
void set_ultralytics_defaults(const Graph& graph, Card& card) {
  if (card.task() == Task::kSemantic) {
    ultralytics_pixels(card);
    card.mean = {0, 0, 0};
    card.std = {1, 1, 1};
  }
  if (card.task() == Task::kDepth) card.heads[0].depth = DepthKind::kMetric;
  if (card.task() != Task::kClassify) return;
  // Classifiers take pixels of 0..1, resized by Pillow; YOLOv5's, which declare no task, take ImageNet's normalisation
  // and are resized by OpenCV.
  if (graph.metadata.contains("task")) {
    card.mean = {0, 0, 0};
    card.std = {1, 1, 1};
  } else {
    card.interpolation = Interpolation::kBilinear;
  }
}

std::optional<Card> from_metadata(const Graph& graph, const Card& probe, std::string& why) {
  const Decoder* decoder = decoder_by_metadata(graph, probe, why);
  if (decoder == nullptr) return std::nullopt;
  Card card = default_card(*decoder);
  set_ultralytics_defaults(graph, card);
  recognise_input(graph, card);
  if (card.task() == Task::kClassify) card.resize_to = std::max(card.width, card.height);
  card.heads[0].classes = metadata_classes(graph);
  fit_output(graph, card, card.heads[0]);
  card.origin = "the model's metadata";
  return card;
}

/// The assumed preprocessing of tasks without a default, with the keys of a card that settle it.
void assume_pixels(const Graph& graph, Card& card) {
  const Task task = card.task();
  if (card.resize == ResizeMode::kStretch && task == Task::kDetect && !card.head().strides.empty())
    card.assumptions.emplace_back("stretched frames, though letterboxed ones are as likely (input.resize)");
  const bool is_depth = task == Task::kDepth;
  if (!is_depth && task != Task::kClassify && task != Task::kSemantic && task != Task::kEmbed) return;
  if (is_integer(graph.value(find_value(graph, graph.inputs(), card.input)).type.dtype))
    card.assumptions.emplace_back("RGB pixels of 0..255, not normalised (input.color, input.scale)");
  else if (is_depth)
    card.assumptions.emplace_back("RGB pixels of 0..1 (input.color, input.scale)");
  else
    card.assumptions.emplace_back("ImageNet preprocessing (input.color, input.mean, input.std, input.interpolation)");
  // ImageNet's classes apart, an embedding has the same shape.
  if (task == Task::kClassify && card.head().softmax && card.head().classes != 1000)
    card.assumptions.emplace_back("scores of classes (output.decoder; \"embed\" reads an embedding)");
  if (is_depth)
    card.assumptions.emplace_back(card.head().depth == DepthKind::kInverse ? "larger is nearer (output.depth)"
                                                                           : "larger is farther (output.depth)");
}

std::optional<Card> from_structure(const Graph& graph, const Card& probe, std::string& why) {
  const Decoder* decoder = decoder_by_structure(graph, probe);
  if (decoder == nullptr) {
    why = fmt::format("its outputs do not match any known {}",
                      probe.track ? "tracker of one object, though it has two images as inputs" : "model family");
    return std::nullopt;
  }
  Card card = card_with(graph, *decoder);
  assume_pixels(graph, card);
  if (!decoder->assumes.empty()) card.assumptions.emplace_back(decoder->assumes);
  card.origin = "the model's inputs and outputs";
  return card;
}

/// Inputs for the image size, by exporters' names.
struct SizeInput {
  std::string_view name;
  enum { kWidthHeight, kHeightWidth, kOnes } holds;
};
constexpr SizeInput kSizeInputs[] = {{"orig_target_sizes", SizeInput::kWidthHeight},  // RT-DETR, D-FINE, DEIM
                                     {"image_shape", SizeInput::kHeightWidth},        // YOLOv3 of keras-yolo3
                                     {"im_shape", SizeInput::kHeightWidth},           // PaddleDetection
                                     {"scale_factor", SizeInput::kOnes},
                                     {"pixel_mask", SizeInput::kOnes}};  // Hugging Face's DETR: valid pixels

constexpr std::int64_t kMostMaskPixels = 1 << 26;

}  // namespace

std::optional<Tensor> size_input(const Value& input, const Card& card) {
  const auto known = std::ranges::find(kSizeInputs, input.name, &SizeInput::name);
  if (known == std::end(kSizeInputs)) return std::nullopt;
  const std::int64_t elements = input.type.shape.elements();
  const bool is_mask = input.name == "pixel_mask";
  if (is_mask ? input.type.shape.rank() != 3 || elements > kMostMaskPixels : elements != 2) return std::nullopt;
  std::array<double, 2> values = {1, 1};
  if (known->holds == SizeInput::kWidthHeight) values = {double(card.width), double(card.height)};
  if (known->holds == SizeInput::kHeightWidth) values = {double(card.height), double(card.width)};
  Tensor tensor(input.type.dtype, input.type.shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    const double value = values[i % 2];
    if (input.type.dtype == DType::kInt64)
      tensor.data<std::int64_t>()[i] = static_cast<std::int64_t>(value);
    else if (input.type.dtype == DType::kInt32)
      tensor.data<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    else if (input.type.dtype == DType::kFloat32)
      tensor.data<float>()[i] = static_cast<float>(value);
    else if (input.type.dtype == DType::kBool)
      tensor.data<bool>()[i] = value != 0;
    else
      return std::nullopt;
  }
  return tensor;
}

ValueId find_value(const Graph& graph, std::span<const ValueId> among, const std::string& name) {
  const auto found = std::ranges::find_if(among, [&](ValueId id) { return graph.value(id).name == name; });
  if (found == among.end())
    fail(ErrorCode::kInvalidArgument, "the model has no '{}' among its inputs and outputs", name);
  return *found;
}

Card default_card(const Decoder& decoder) {
  Card card;
  card.heads = {Head{.decoder = &decoder}};
  decoder.usual_pixels(card);
  return card;
}

Shape with_batch(const Shape& image) { return image.rank() == 3 ? Shape{1, image[0], image[1], image[2]} : image; }

bool is_channels_last(const Shape& image) {
  const auto colors = [&](int axis) { return image[axis] == 3 || image[axis] == 1; };
  return !colors(1) && colors(3);
}

/// Integer inputs cannot hold pixels of 0..1: they take 0..255, or -128..127 for int8.
void take_whole_pixels(DType type, Card& card) {
  const float middle = type == DType::kInt8 ? 128 : 0;
  card.scale = 1;
  card.mean = {middle, middle, middle};
  card.std = {1, 1, 1};
}

/// The size of an image of three channels, any layout, and batch 1; nothing if INPUT is none.
std::optional<std::array<int, 2>> color_image_size(const Value& input) {
  const Shape shape = with_batch(input.type.shape);
  if (shape.rank() != 4 || shape[0] != 1) return std::nullopt;
  const int rows = is_channels_last(shape) ? 1 : 2;
  constexpr std::int64_t kMostSide = 16384;
  if (shape[rows == 1 ? 3 : 1] != 3 || std::max(shape[rows], shape[rows + 1]) > kMostSide ||
      std::min(shape[rows], shape[rows + 1]) < 2)
    return std::nullopt;
  return std::array{static_cast<int>(shape[rows + 1]), static_cast<int>(shape[rows])};
}

/// Of two IMAGES, that of a tracker's target becomes CARD's: the one that it names, else the smaller one. Leaves IMAGES
/// as they are if they are others. Throws Error if both have one size and CARD names none.
void take_target(const Graph& graph, std::vector<ValueId>& images, Card& card) {
  if (images.size() != 2) return;
  const auto first = color_image_size(graph.value(images[0]));
  const auto second = color_image_size(graph.value(images[1]));
  if (!first || !second) return;
  const auto area = [](const std::array<int, 2>& size) { return std::int64_t{size[0]} * size[1]; };
  std::size_t target = area(*first) < area(*second) ? 0 : 1;
  if (card.track && !card.track->input.empty()) {
    target = find_value(graph, images, card.track->input) == images[0] ? 0 : 1;
  } else if (area(*first) == area(*second)) {
    fail(ErrorCode::kUnsupported,
         "the model has two images as inputs, '{}' and '{}', of one size; if it follows an object, name the one that "
         "takes the target in a card: 'track.target' and 'output.decoder'",
         graph.value(images[0]).name, graph.value(images[1]).name);
  }
  if (!card.track) card.track.emplace();
  card.track->input = graph.value(images[target]).name;
  const std::array<int, 2>& size = target == 0 ? *first : *second;
  card.track->width = size[0];
  card.track->height = size[1];
  images.erase(images.begin() + static_cast<std::ptrdiff_t>(target));
}

void recognise_input(const Graph& graph, Card& card) {
  // All inputs but the images must be for their size.
  std::vector<ValueId> images;
  for (ValueId id : graph.inputs())
    if (!size_input(graph.value(id), card)) images.push_back(id);
  take_target(graph, images, card);
  if (images.size() != 1)
    fail(ErrorCode::kUnsupported,
         "the model has {} inputs; only models with a single image input, or a target and a search image, can run on "
         "frames (`saccade infer` runs any model on tensors)",
         graph.inputs().size());
  const Value& input = graph.value(images[0]);
  const Shape shape = with_batch(input.type.shape);
  const bool last = shape.rank() == 4 && is_channels_last(shape);
  const std::int64_t channels = shape.rank() == 4 ? shape[last ? 3 : 1] : 0;
  if (channels != 3 && channels != 1)
    fail(ErrorCode::kUnsupported, "the model's input '{}' ({}) is not an image of 3 channels or 1", input.name,
         input.type.shape.to_string());
  if (shape[0] != 1)
    fail(ErrorCode::kUnsupported, "the model's input '{}' ({}) has a batch of {}; export it with a batch of 1",
         input.name, input.type.shape.to_string(), shape[0]);
  const std::int64_t height = shape[last ? 1 : 2];
  const std::int64_t width = shape[last ? 2 : 3];
  if (width < 2 || height < 2 || width > 16384 || height > 16384) {
    const auto size = graph.metadata.find("imgsz");
    fail(ErrorCode::kUnsupported,
         "the model's input '{}' ({}) has no usable size{}; give one: --shape {}={}{}xHEIGHTxWIDTH", input.name,
         input.type.shape.to_string(),
         size == graph.metadata.end() ? "" : fmt::format(" (imgsz in its metadata: {})", size->second), input.name,
         input.type.shape.rank() == 3 ? "" : "1x", channels);
  }
  card.input = input.name;
  card.width = static_cast<int>(width);
  card.height = static_cast<int>(height);
  if (channels == 1) card.color = ChannelOrder::kGray;
  if (is_integer(input.type.dtype)) take_whole_pixels(input.type.dtype, card);
  if (is_crop(card.resize) && card.resize_to == 0)
    card.resize_to = (std::max(card.width, card.height) * 256 + 112) / 224;
}

void fit_output(const Graph& graph, const Card& card, Head& head) {
  std::string seen;
  for (ValueId output : graph.outputs()) {
    const Value& value = graph.value(output);
    seen += fmt::format("{}{} ({})", seen.empty() ? "" : ", ", value.name, value.type.shape.to_string());
  }
  const std::vector<std::string> named = head.outputs;
  for (const std::string& name : named)
    if (!std::ranges::any_of(graph.outputs(), [&](ValueId output) { return graph.value(output).name == name; }))
      fail(ErrorCode::kInvalidFile, "the model has no output '{}': it has {}", name, seen);
  if (fits(graph, card, head)) {
    if (head.decoder->uses.anchors && head.anchors.empty())
      fail(ErrorCode::kInvalidFile, "there are no default anchors for levels of strides {}: set 'output.anchors'",
           fmt::join(head.strides, ", "));
    return;
  }
  fail(ErrorCode::kInvalidFile, "the decoder {} matches no output{} of the model: it takes {}, but the model has {}",
       head.decoder->name, named.empty() ? "" : fmt::format(" '{}'", fmt::join(named, "', '")), head.decoder->shapes,
       seen);
}

int metadata_classes(const Graph& graph) {
  const auto names = graph.metadata.find("names");
  return names == graph.metadata.end() ? 0 : static_cast<int>(parse_python_names(names->second).size());
}

std::vector<Card> fitting_cards(const Graph& graph) {
  Card probe;
  recognise_input(graph, probe);
  std::vector<Card> cards;
  for (const Decoder* decoder : decoders()) {
    try {
      std::optional<Head> head = fitted(graph, probe, *decoder);
      if (!head) continue;
      Card card = default_card(*decoder);
      recognise_input(graph, card);
      card.heads = {*std::move(head)};
      card.origin = fmt::format("the decoder {}", decoder->name);
      cards.push_back(std::move(card));
    } catch (const Error&) {  // the outputs contradict the decoder
    }
  }
  return cards;
}

std::optional<Card> recognise(const Graph& graph, std::string& why) {
  Card probe;
  recognise_input(graph, probe);
  return graph.metadata.contains("names") ? from_metadata(graph, probe, why) : from_structure(graph, probe, why);
}

}  // namespace saccade
