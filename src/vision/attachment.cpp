#include "vision/attachment.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/vision/mask_place.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/cards/recognise.hpp"

namespace saccade {
namespace {

constexpr float kSigma = 0.5F;  // of Nms::kGaussian, as in the paper on Soft-NMS

}  // namespace

void set_placement(Attributes& attributes, const Card& card) {
  attributes.set("width", std::int64_t{card.width});
  attributes.set("height", std::int64_t{card.height});
  attributes.set("resize", std::string(kResizeNames[static_cast<std::size_t>(card.resize)]));
  if (is_crop(card.resize)) attributes.set("resize_to", std::int64_t{card.resize_to});
  if (const auto& roi = card.roi)
    attributes.set("roi", std::vector<std::int64_t>{roi->x, roi->y, roi->width, roi->height});
}

ImageSlices::ImageSlices(Graph& model, const Card& card, std::size_t images) : model_(model), images_(images) {
  if (images == 1) return;
  single_ = model;
  if (card.track)
    fail(ErrorCode::kUnsupported, "a tracker follows one object from frame to frame and does not support batching");
  const ValueId image = find_value(model, model.inputs(), card.input);
  const auto axes = batch_images(model, image, static_cast<std::int64_t>(images));
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i]) axes_.emplace(model.outputs()[i], *axes[i]);
}

ValueId ImageSlices::of(Fragment& post, ValueId value, std::size_t image) const {
  const auto found = axes_.find(value);
  if (found == axes_.end()) return value;
  const ImageAxis at = found->second;
  const auto i = static_cast<std::int64_t>(image);
  if (at.outer == 1) return post.slice(value, at.axis, i * at.inner, (i + 1) * at.inner);
  std::vector<std::int64_t> indices;
  for (std::int64_t k = 0; k < at.per_image(); ++k)
    indices.push_back((k / at.inner * static_cast<std::int64_t>(images_) + i) * at.inner + k % at.inner);
  return post.gather(value, at.axis, post.ints(indices));
}

ValueId Attachment::raw_output(std::size_t role) {
  return slices_.of(post, find_value(post.graph(), post.graph().outputs(), head.outputs.at(role)), image_);
}

ValueId Attachment::class_filter() {
  if (classes_.empty() || index_ != 0) return ValueId::kNone;
  Tensor allowed(DType::kBool, {static_cast<std::int64_t>(head.labels.size())});
  std::ranges::fill(allowed.data<bool>(), false);
  for (int id : classes_) allowed.data<bool>()[static_cast<std::size_t>(id)] = true;
  return post.constant(std::move(allowed));
}

void Attachment::set_candidate_attributes(Node& node) const {
  const Thresholds thresholds = graph_thresholds(head, options);
  node.attributes.set("conf", thresholds.least());
  if (std::vector<float> by_class = thresholds.by_class(); !by_class.empty())
    node.attributes.set("threshold", std::move(by_class));
  if (!head.remap.empty())
    node.attributes.set("remap", std::vector<std::int64_t>(head.remap.begin(), head.remap.end()));
  node.attributes.set("multi_label", std::int64_t{options.multi_label.value_or(head.multi_label)});
}

Attachment::Objects Attachment::choose(Node decoder) {
  std::vector<ValueId> candidates =
      post.add(std::move(decoder), {"candidates.boxes", "candidates.scores", "candidates.classes", "candidates.anchors",
                                    "candidates.count", "candidates.faults"});
  const ValueId faults = candidates.back();
  candidates.pop_back();
  candidates.push_back(geometry);
  Node select{.domain = "saccade", .op = "SelectBoxes", .inputs = std::move(candidates)};
  const Nms nms = head.decoder->selects_itself ? Nms::kNone : options.nms;
  select.attributes.set("nms", std::string(to_string(nms)));
  select.attributes.set("iou", options.iou.value_or(head.iou.value_or(kUsualIou)));
  select.attributes.set("sigma", kSigma);
  select.attributes.set("conf", conf());
  select.attributes.set("max_det", std::int64_t{options.max_detections});
  select.attributes.set("agnostic", std::int64_t{options.agnostic});
  const auto made = post.add(std::move(select), {"detections", "detections.count", "detections.anchors",
                                                 "detections.order", "detections.scores"});
  const Objects objects{.detections = made[0], .count = made[1], .anchors = made[2]};
  add_detections(objects, faults);
  return objects;
}

Attachment::Objects Attachment::choose(ValueId boxes, ValueId scores) {
  Node decoder{.domain = "saccade", .op = "DecodeBoxes", .inputs = {boxes, class_filter(), scores}};
  set_candidate_attributes(decoder);
  return choose(std::move(decoder));
}

void Attachment::add_detections(const Objects& objects, ValueId faults) {
  const CountIndex count = outputs.add_count(objects.count);
  predictions.detections = {
      .rows = outputs.add(objects.detections, count), .count = count, .faults = outputs.add(faults)};
}

void Attachment::add_keypoints(ValueId points, std::int64_t numbers) {
  const Shape& shape = post.shape(points);
  if (numbers < 2 || shape[2] % numbers != 0)
    fail(ErrorCode::kInvalidFile,
         "the output '{}' has {} numbers for the keypoints of an object, which are not {} keypoints",
         head.outputs.front(), shape[2], head.keypoints);
  const std::int64_t objects = shape[1];
  const std::int64_t count = shape[2] / numbers;
  const ValueId apart = post.reshape(points, {objects, count, numbers});
  const ValueId on_frame = post.own("MapPoints", {apart, geometry});
  predictions.keypoints = {.points = outputs.add(on_frame, predictions.detections.value().count)};
}

void Attachment::add_masks(MaskWithin within, ValueId grids, const Objects& objects) {
  const ValueId boxes = within == MaskWithin::kImage ? ValueId::kNone : objects.detections;
  Node trace{.domain = "saccade", .op = "TraceMasks", .inputs = {grids, objects.count, boxes, geometry}};
  set_placement(trace.attributes, card);
  trace.attributes.set("within", std::string(kMaskWithinNames[static_cast<std::size_t>(within)]));
  const auto traced =
      post.add(std::move(trace), {"masks.runs", "masks.numbers", "masks.count", "masks.untraced", "masks.faults"});
  const CountIndex untraced = outputs.add_count(traced[3]);
  const CountIndex run_count = outputs.add_count(traced[2]);
  predictions.masks = {.within = within,
                       .grids = outputs.add(grids, untraced),
                       .untraced = untraced,
                       .runs = outputs.add(traced[0], run_count),
                       .run_count = run_count,
                       .numbers = outputs.add(traced[1], predictions.detections.value().count),
                       .faults = outputs.add(traced[4])};
}

}  // namespace saccade
