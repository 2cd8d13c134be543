#include "vision/attachment.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/vision/mask_place.hpp"
#include "vision/card_file.hpp"
#include "vision/recognise.hpp"

namespace saccade {

void set_placement(Attributes& attributes, const Card& card) {
  attributes.set("width", std::int64_t{card.width});
  attributes.set("height", std::int64_t{card.height});
  attributes.set("resize", std::string(kResizeNames[static_cast<std::size_t>(card.resize)]));
  if (card.resize == ResizeMode::kResizeCrop) attributes.set("resize_to", std::int64_t{card.resize_to});
  if (const auto& roi = card.roi)
    attributes.set("roi", std::vector<std::int64_t>{roi->x, roi->y, roi->width, roi->height});
}

ValueId Attachment::output(std::size_t role) {
  return post.cast(find_value(post.graph(), post.graph().outputs(), head.outputs.at(role)), DType::kFloat32);
}

float Attachment::conf() const {
  if (options.conf) return *options.conf;
  return head.conf.empty() ? kUsualConfidence : std::ranges::min(head.conf);
}

ValueId Attachment::class_filter() {
  if (options.classes.empty() || place_ != 0) return ValueId::kNone;
  Tensor allowed(DType::kBool, {static_cast<std::int64_t>(head.labels.size())});
  std::ranges::fill(allowed.data<bool>(), false);
  for (int id : options.classes) {
    if (id < 0 || static_cast<std::size_t>(id) >= head.labels.size())
      fail(ErrorCode::kInvalidArgument, "the model has no class {}; it has {} classes", id, head.labels.size());
    allowed.data<bool>()[static_cast<std::size_t>(id)] = true;
  }
  return post.constant(std::move(allowed));
}

void Attachment::set_candidate_attributes(Node& node) const {
  node.attributes.set("conf", conf());
  if (!options.conf && head.conf.size() > 1) node.attributes.set("threshold", head.conf);
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
  const bool turned = post.shape(candidates[0])[1] == 5;
  candidates.push_back(geometry);
  Node select{.domain = "saccade", .op = "SelectBoxes", .inputs = std::move(candidates)};
  const Nms nms = head.decoder->selects_itself ? Nms::kNone : options.nms;
  select.attributes.set("nms", std::string(kNmsNames[static_cast<std::size_t>(nms)]));
  select.attributes.set("iou", options.iou);
  select.attributes.set("sigma", options.sigma);
  select.attributes.set("conf", conf());
  select.attributes.set("max_det", std::int64_t{options.max_det});
  select.attributes.set("agnostic", std::int64_t{options.agnostic});
  const auto made = post.add(std::move(select), {"detections", "detections.count", "detections.anchors",
                                                 "detections.order", "detections.scores"});
  give(turned ? Answer::kOriented : Answer::kDetections, made[0]);
  give(Answer::kCount, made[1]);
  give(Answer::kFaults, faults);
  return {made[0], made[1], made[2]};
}

Attachment::Objects Attachment::choose(ValueId boxes, ValueId scores) {
  Node decoder{.domain = "saccade", .op = "DecodeBoxes", .inputs = {boxes, class_filter(), scores}};
  set_candidate_attributes(decoder);
  return choose(std::move(decoder));
}

void Attachment::give_keypoints(ValueId points, std::int64_t numbers) {
  const Shape& shape = post.shape(points);
  if (numbers < 2 || shape[2] % numbers != 0)
    fail(ErrorCode::kInvalidFile,
         "the output '{}' has {} numbers for the keypoints of an object, which are not {} keypoints",
         head.outputs.front(), shape[2], head.keypoints);
  const std::int64_t objects = shape[1];
  const std::int64_t count = shape[2] / numbers;
  const ValueId apart = post.reshape(points, {objects, count, numbers});
  give(Answer::kKeypoints, post.own("MapPoints", {apart, geometry}));
}

void Attachment::give_masks(Answer kind, ValueId grids, ValueId count, ValueId detections) {
  MaskWithin within = MaskWithin::kImage;
  if (kind == Answer::kBoxMasks) within = MaskWithin::kBoxes;
  if (kind == Answer::kRegions) within = MaskWithin::kRegions;
  Node trace{.domain = "saccade", .op = "TraceMasks", .inputs = {grids, count, detections, geometry}};
  set_placement(trace.attributes, card);
  trace.attributes.set("within", std::string(kMaskWithinNames[static_cast<std::size_t>(within)]));
  const auto traced =
      post.add(std::move(trace), {"masks.runs", "masks.numbers", "masks.count", "masks.untraced", "masks.faults"});
  give(kind, post.own("FirstRows", {grids, traced[3]}));
  give(Answer::kRuns, traced[0]);
  give(Answer::kRunNumbers, traced[1]);
  give(Answer::kRunCount, traced[2]);
  give(Answer::kUntraced, traced[3]);
  give(Answer::kFaults, traced[4]);
}

void Attachment::give(Answer kind, ValueId value) { given_.push_back({{kind, place_}, value}); }

}  // namespace saccade
