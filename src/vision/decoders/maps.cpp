#include <algorithm>

#include "vision/decoders/families.hpp"
#include "vision/decoders/support.hpp"

// Predictions on a grid: a class or a depth per cell, a larger image.
namespace saccade {
namespace {

/// Height and width of [1, C, h, w] or [1, h, w] (C is 1 then).
struct Plane {
  std::int64_t channels = 0;  ///< 0: not a plane
  std::int64_t height = 0;
  std::int64_t width = 0;
};
Plane plane_of(const Shape& shape) {
  if (shape.rank() == 4 && shape[0] == 1) return {shape[1], shape[2], shape[3]};
  if (shape.rank() == 3 && shape[0] == 1) return {1, shape[1], shape[2]};
  return {};
}

/// Whether the plane has the aspect ratio of the image, within 10 %.
bool lies_on(const Plane& plane, const Card& card) {
  if (plane.channels == 0 || plane.height < 2 || plane.width < 2) return false;
  const double across = static_cast<double>(card.width) / static_cast<double>(plane.width);
  const double down = static_cast<double>(card.height) / static_cast<double>(plane.height);
  return across < down * 1.1 && down < across * 1.1;
}

bool is_whole_number(DType dtype) {
  return dtype == DType::kInt64 || dtype == DType::kInt32 || dtype == DType::kUInt8 || dtype == DType::kInt8;
}

DType type_of(const Graph& graph, const Head& head) { return graph.value(output_of(graph, head)).type.dtype; }

bool fit_semantic(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& to) {
    const Plane plane = plane_of(shape);
    if (!lies_on(plane, card)) return false;
    // A single channel holds class IDs or one score.
    return plane.channels == 1 || set_class_count(to, plane.channels);
  });
}

/// Classes of Cityscapes, LIP, Pascal VOC, Pascal Context, ADE20K and COCO-Stuff, some with and without a background.
constexpr int kUsualCounts[] = {19, 20, 21, 59, 60, 150, 151, 171, 182};

/// Whether the output comes from an upsampling or a selection of classes, in which segmentation networks end.
bool ends_in_classes(const Graph& graph, const Head& head) {
  // operator list: how segmentation networks end.
  static const std::set<std::string> kMakers = {"ArgMax", "LogSoftmax", "Resize", "Softmax"};
  const std::set<std::string> made_by = makers(graph, output_of(graph, head));
  return !made_by.empty() && std::ranges::includes(kMakers, made_by);
}

/// Features, heat maps and detection heads also have many channels, but are coarser or end in other operators.
bool is_semantic(const Graph& graph, const Card& card, const Head& head) {
  const Plane plane = plane_of(graph.value(output_of(graph, head)).type.shape);
  if (!reads_all(graph, head) || plane.width * 8 < card.width) return false;
  if (head.classes == 0) return is_whole_number(type_of(graph, head));
  return head.classes > 3 && (std::ranges::count(kUsualCounts, head.classes) > 0 || ends_in_classes(graph, head));
}

void attach_semantic(Attachment& to) {
  const ValueId raw = to.raw_output(0);
  const Plane plane = plane_of(to.post.shape(raw));
  if (plane.channels == 1 && is_whole_number(to.post.graph().value(raw).type.dtype)) {
    const ValueId ids = to.post.cast(to.post.reshape(raw, {plane.height, plane.width}), DType::kInt32);
    to.predictions.class_map = {.cells = to.outputs.add(ids), .from_model = true};
    return;
  }
  const ValueId scores = to.post.reshape(to.output(0), {1, plane.channels, plane.height, plane.width});
  // A single score is a probability, or a logit if the card sets sigmoid: above 0.5 in either case.
  const ValueId ids = to.post.own("MapClasses", {scores}, {{"threshold", to.head.sigmoid ? 0.0F : 0.5F}});
  to.predictions.class_map = {.cells = to.outputs.add(ids)};
}

/// A disparity, or the output of Hugging Face's DPT and Depth Anything.
bool is_larger_nearer(const std::string& name) {
  return name.find("disp") != std::string::npos || name.find("predicted_depth") != std::string::npos;
}

bool fit_depth(const Graph& graph, const Card& card, Head& head) {
  const bool fits = fit_one(graph, head, [&](const Shape& shape, Head& /*to*/) {
    const Plane plane = plane_of(shape);
    return lies_on(plane, card) && plane.channels == 1;
  });
  if (fits && head.depth == DepthKind::kRelative && is_larger_nearer(head.outputs[0])) head.depth = DepthKind::kInverse;
  return fits;
}

/// A plane of numbers may be a depth or a mask: the name decides.
bool is_depth(const Graph& graph, const Card& /*card*/, const Head& head) {
  if (!reads_all(graph, head) || is_whole_number(type_of(graph, head))) return false;
  const std::string& name = head.outputs[0];
  return name.find("depth") != std::string::npos || name.find("disp") != std::string::npos;
}

void attach_depth(Attachment& to) {
  const ValueId output = to.output(0);
  const Plane plane = plane_of(to.post.shape(output));
  const ValueId cells = to.post.reshape(output, {plane.height, plane.width});
  to.predictions.depth = {.cells = to.outputs.add(cells),
                          .rows = to.outputs.add(to.post.own("SummarizeRows", {cells}))};
}

bool fit_upscale(const Graph& graph, const Card& card, Head& head) {
  return fit_one(graph, head, [&](const Shape& shape, Head& /*to*/) {
    const Plane plane = plane_of(shape);
    return lies_on(plane, card) && shape.rank() == 4 && plane.channels == (card.color == ChannelOrder::kGray ? 1 : 3);
  });
}

/// An image of an integer multiple of the input's size.
bool is_upscale(const Graph& graph, const Card& card, const Head& head) {
  const Plane plane = plane_of(graph.value(output_of(graph, head)).type.shape);
  return reads_all(graph, head) && plane.width > card.width && plane.width % card.width == 0 &&
         plane.width / card.width == plane.height / card.height && plane.height % card.height == 0;
}

/// The inverse of the card's normalisation, rounded half to even, clamped to 0..255, three channels last.
void attach_upscale(Attachment& to) {
  Fragment& post = to.post;
  ValueId image = to.output(0);
  // A byte cannot represent NaN.
  const ValueId norm = post.op("ReduceL1", {image}, {{"keepdims", std::int64_t{0}}});
  const auto per_channel = [&](const std::array<float, 3>& values) {
    if (to.card.color == ChannelOrder::kGray) return post.number(values[0]);
    return post.floats({1, 3, 1, 1}, {values.begin(), values.end()});
  };
  image = post.op("Mul", {image, per_channel(to.card.std)});
  image = post.op("Add", {image, per_channel(to.card.mean)});
  image = post.op("Div", {image, post.number(to.card.scale)});
  image = post.op("Clip", {post.op("Round", {image}), post.number(0), post.number(255)});
  if (to.card.color == ChannelOrder::kGray) image = post.concat({image, image, image}, 1);
  if (to.card.color == ChannelOrder::kBgr) image = post.gather(image, 1, post.ints({2, 1, 0}));
  const Shape shape = post.shape(image);
  const ValueId last = post.transpose(post.cast(image, DType::kUInt8), {0, 2, 3, 1});
  to.predictions.image = {.pixels = to.outputs.add(post.reshape(last, {shape[2], shape[3], shape[1]})),
                          .norm = to.outputs.add(norm)};
}

}  // namespace

constexpr Decoder kSemantic = {
    .name = "semantic",
    .reads = "class scores per cell of a grid, or class IDs (`sigmoid`, `background`)",
    .shapes = "[1, C, h, w] or [1, h, w] with the aspect ratio of the input",
    .task = Task::kSemantic,
    .usual_pixels = stretched_imagenet_pixels,
    .fit = fit_semantic,
    .recognises = is_semantic,
    .attach = attach_semantic,
    .uses = {.conf = false, .remap = false, .multi_label = false, .sigmoid = true, .background = true}};
constexpr Decoder kDepth = {
    .name = "depth",
    .reads = "one depth per cell of a grid (`depth`: its meaning)",
    .shapes = "[1, 1, h, w] or [1, h, w] with the aspect ratio of the input",
    .task = Task::kDepth,
    .usual_pixels = stretched_pixels,
    .fit = fit_depth,
    .recognises = is_depth,
    .attach = attach_depth,
    .uses = {.labels = false, .conf = false, .remap = false, .multi_label = false, .depth = true}};
constexpr Decoder kUpscale = {.name = "upscale",
                              .reads = "a larger image, with values scaled like the input",
                              .shapes = "[1, 3, h, w] with the aspect ratio of the input",
                              .task = Task::kUpscale,
                              .usual_pixels = stretched_pixels,
                              .fit = fit_upscale,
                              .recognises = is_upscale,
                              .attach = attach_upscale,
                              .uses = {.labels = false, .conf = false, .remap = false, .multi_label = false}};

}  // namespace saccade
