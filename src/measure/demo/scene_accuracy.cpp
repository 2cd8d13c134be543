#include "measure/demo/scene_accuracy.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {
namespace {

std::vector<MaskRun> mask_of(const SceneTruth& truth, const SceneObject& object) {
  std::vector<MaskRun> runs;
  for (int y = object.y1; y < object.y2; ++y) {
    const std::int32_t* row = truth.identities.data() + static_cast<std::ptrdiff_t>(y) * truth.width;
    const std::int32_t* end = row + object.x2;
    const auto is_object = [&](std::int32_t identity) { return identity == object.identity; };
    for (const std::int32_t* at = std::find_if(row + object.x1, end, is_object); at != end;) {
      const std::int32_t* after = std::find_if_not(at, end, is_object);
      runs.push_back({y, static_cast<std::int32_t>(at - row), static_cast<std::int32_t>(after - row)});
      at = std::find_if(after, end, is_object);
    }
  }
  return runs;
}

int place_of(const Result& result) {
  if (result.classes.empty()) return -1;
  const auto places = scene_places();
  const auto found = std::ranges::find(places, result.classes.front().class_name);
  return found == places.end() ? -1 : static_cast<int>(found - places.begin());
}

void drop_maps(PredictedFrame& predictions) {
  predictions.has_masks = false;
  predictions.depth.reset();
  for (FoundObject& found : predictions.found) found.mask = {};
}

}  // namespace

std::vector<TrueObject> objects_of(const SceneTruth& truth) {
  std::vector<TrueObject> objects;
  for (const SceneObject& object : truth.objects) {
    const CocoBox box{.x = static_cast<double>(object.x1),
                      .y = static_cast<double>(object.y1),
                      .width = static_cast<double>(object.x2 - object.x1),
                      .height = static_cast<double>(object.y2 - object.y1)};
    objects.push_back({.box = box,
                       .class_id = object.class_id,
                       .area = static_cast<double>(object.visible_pixels),
                       .crowd = object.ignore,
                       .mask = mask_of(truth, object)});
  }
  return objects;
}

ScenePredictions::ScenePredictions(const Model& model) : gives_masks_(model.task() == Task::kSegment) {
  const auto names = scene_classes();
  if (!gives_masks_ && model.task() != Task::kDetect)
    fail(ErrorCode::kInvalidArgument, "{} predicts no boxes, which the demo evaluates", model.name());
  std::string missing;
  for (std::string_view name : names)
    if (std::ranges::find(model.labels(), name) == model.labels().end())
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  if (!missing.empty())
    fail(ErrorCode::kInvalidArgument, "{} does not detect the scene's objects: its labels lack {}", model.name(),
         missing);
  for (const std::string& label : model.labels()) {
    const auto place = std::ranges::find(names, label);
    scene_class_.push_back(place == names.end() ? -1 : static_cast<int>(place - names.begin()));
  }
}

PredictedFrame ScenePredictions::of(const Result& result) const {
  PredictedFrame predictions{.frame = result.frame, .has_masks = gives_masks_, .place = place_of(result)};
  for (const Detection& detection : result.detections) {
    const auto& [x1, y1, x2, y2] = detection.box;
    const double left = x1;
    const double top = y1;
    FoundObject found{.box = {left, top, x2 - left, y2 - top},
                      .class_id = scene_class_.at(static_cast<std::size_t>(detection.class_id)),
                      .score = detection.confidence};
    if (detection.mask) found.mask.assign(detection.mask->runs.begin(), detection.mask->runs.end());
    predictions.found.push_back(std::move(found));
  }
  const DepthMap& depth = result.depth;
  if (!depth.cells.empty())
    predictions.depth = KeptDepth{depth.place, depth.kind, {depth.cells.begin(), depth.cells.end()}};
  return predictions;
}

void PredictedFrames::add(PredictedFrame predictions) {
  frames_.push_back(std::move(predictions));
  if ((frames_.size() - 1) % step_ != 0) {
    drop_maps(frames_.back());
  } else if (frames_.size() > kMostMaps * step_) {
    for (std::size_t i = step_; i < frames_.size(); i += 2 * step_) drop_maps(frames_[i]);
    step_ *= 2;
  }
}

SceneEvaluator::SceneEvaluator(const SceneOptions& options)
    : scene_(options),
      boxes_(static_cast<int>(scene_classes().size())),
      masks_(static_cast<int>(scene_classes().size()), Similarity::kMask) {}

void SceneEvaluator::add(const PredictedFrame& predictions) {
  const SceneTruth& truth = scene_.truth(predictions.frame);
  const std::vector<TrueObject> objects = objects_of(truth);
  boxes_.add(objects, predictions.found);
  if (predictions.has_masks) masks_.add(objects, predictions.found);
  if (predictions.depth) add_depth(truth, *predictions.depth);
  placed_ += predictions.place >= 0;
  placed_right_ += predictions.place == truth.place;
}

void SceneEvaluator::add_depth(const SceneTruth& truth, const KeptDepth& depth) {
  truth_ = truth.depth;
  // Truth that is not positive is ignored.
  std::ranges::replace_if(
      truth_, [](float metres) { return metres > kSceneDepth; }, 0.0F);
  const DepthMap map{.place = depth.place, .kind = depth.kind, .cells = depth.cells};
  found_.clear();
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) found_.push_back(map.at(x, y));
  align_depth(depth.kind, truth_, found_);
  depths_.push_back(depth_scores(truth_, found_));
}

SceneScores SceneEvaluator::scores() const {
  SceneScores scores{.boxes = boxes_.scores()};
  if (masks_.images() > 0) scores.masks = masks_.scores();
  if (!depths_.empty()) scores.depth = mean(depths_);
  if (placed_ > 0) scores.place = static_cast<double>(placed_right_) / placed_;
  return scores;
}

std::optional<DetectionMetric::ClassScores> SceneEvaluator::mask_scores(int class_id) const {
  if (masks_.images() == 0) return {};
  return masks_.class_scores(class_id);
}

}  // namespace saccade
