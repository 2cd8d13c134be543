#include "validate/data/coco_evaluator.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "validate/data/heads.hpp"

namespace saccade {
namespace {

/// The annotations of an image; null if the file lacks it.
const CocoImage* find_image(const CocoAnnotations& annotations, std::int64_t id) {
  const auto at = std::ranges::lower_bound(annotations.images, id, {}, &CocoImage::id);
  return at == annotations.images.end() || at->id != id ? nullptr : &*at;
}

bool has(const Detection& prediction, Similarity by) {
  if (by == Similarity::kMask) return prediction.mask.has_value();
  return by == Similarity::kBox || !prediction.keypoints.empty();
}

Score score_of(const DetectionMetric& metric, const ClassMatch& classes, const std::string& file) {
  const DetectionScores s = metric.scores();
  Score score{.name = std::string(to_string(metric.by())), .counted = "objects", .figures = {}, .classes = {}};
  score.figures = {{"ap", s.ap}, {"ap50", s.ap50}, {"ap75", s.ap75}};
  const bool has_small = metric.by() != Similarity::kKeypoints;
  if (has_small) score.figures.push_back({"ap_small", s.ap_small});
  score.figures.insert(score.figures.end(), {{"ap_medium", s.ap_medium}, {"ap_large", s.ap_large}});
  if (has_small)
    score.figures.insert(score.figures.end(),
                         {{"ar1", s.ar1}, {"ar10", s.ar10}, {"ar100", s.ar}, {"ar_small", s.ar_small}});
  else
    score.figures.insert(score.figures.end(), {{"ar20", s.ar}, {"ar50", s.ar50}, {"ar75", s.ar75}});
  score.figures.insert(score.figures.end(), {{"ar_medium", s.ar_medium}, {"ar_large", s.ar_large}});
  for (std::size_t c = 0; c < classes.categories.size(); ++c) {
    const DetectionMetric::ClassScores each = metric.class_scores(static_cast<int>(c));
    if (each.objects > 0) score.classes.push_back({classes.categories[c], each.objects, each.ap});
    if (classes.known[c]) score.truth.classes.push_back(classes.categories[c]);
  }
  score.truth.file = file;
  return score;
}

}  // namespace

CocoEvaluator::CocoEvaluator(const Model& model, const CocoTruth& truth, std::span<const DataImage> images,
                             CocoResults* results)
    : model_(model), images_(images), results_(results) {
  add_part(Similarity::kBox, truth.boxes, true);
  add_part(Similarity::kMask, truth.masks, find_head(model, {Task::kSegment}) != nullptr);
  add_part(Similarity::kKeypoints, truth.keypoints, find_head(model, {Task::kPose}) != nullptr);
}

void CocoEvaluator::add_part(Similarity by, const CocoAnnotations* annotations, bool is_sure) {
  if (annotations == nullptr) return;
  ClassMatch classes;
  try {
    classes = match_classes(model_, *annotations);
  } catch (const Error&) {
    if (is_sure) throw;
    return;  // the classes of this model are not in the keypoint file
  }
  parts_.push_back({.annotations = annotations,
                    .classes = std::move(classes),
                    .metric = DetectionMetric(
                        static_cast<int>(annotations->categories.size()), by,
                        by == Similarity::kKeypoints ? keypoint_sigmas(annotations->keypoints) : std::vector<double>()),
                    .holds = is_sure ? Holds::kYes : Holds::kUnknown});
}

std::vector<TrueObject> CocoEvaluator::truth_of(const Part& part, const CocoImage& said, const Shown& shown) {
  std::vector<TrueObject> truth;
  const Similarity by = part.metric.by();
  for (const CocoObject& object : said.objects) {
    if (!part.classes.known[object.category]) continue;
    TrueObject& each = truth.emplace_back();
    each.box = object.box;
    each.class_id = static_cast<int>(object.category);
    each.area = object.area;
    each.crowd = object.crowd;
    const bool is_bare = by == Similarity::kMask ? object.segmentation.empty()
                                                 : by == Similarity::kKeypoints && object.keypoints.empty();
    if (is_bare)
      fail(ErrorCode::kInvalidFile, "'{}': annotation {} has no {}, but others have", part.annotations->path, object.id,
           by == Similarity::kMask ? "segmentation" : "keypoints");
    if (by == Similarity::kMask) {
      try {
        each.mask = mask_of(object.segmentation, shown.width, shown.height);
      } catch (const Error& error) {
        throw error.in(fmt::format("'{}': annotation {}", part.annotations->path, object.id));
      }
    }
    if (by == Similarity::kKeypoints) {
      each.keypoints = object.keypoints;
      each.ignored = !object.has_keypoints;
    }
  }
  return truth;
}

std::vector<FoundObject> CocoEvaluator::found_in(const Part& part, const Result& result) const {
  std::vector<FoundObject> found;
  const Similarity by = part.metric.by();
  for (const Detection& prediction : result.detections) {
    const int category = part.classes.of(prediction.class_id);
    if (category < 0) continue;
    const double left = prediction.box[0];
    const double top = prediction.box[1];
    FoundObject& each = found.emplace_back();
    each.box = {left, top, prediction.box[2] - left, prediction.box[3] - top};
    each.class_id = category;
    each.score = prediction.confidence;
    if (by == Similarity::kMask && prediction.mask)
      each.mask.assign(prediction.mask->runs.begin(), prediction.mask->runs.end());
    if (by != Similarity::kKeypoints) continue;
    if (prediction.keypoints.size() != part.annotations->keypoints)
      fail(ErrorCode::kInvalidArgument, "{} predicts {} keypoints per object, but '{}' has {}", model_.name(),
           prediction.keypoints.size(), part.annotations->path, part.annotations->keypoints);
    for (const Keypoint& point : prediction.keypoints) each.keypoints.push_back({point.x, point.y});
  }
  return found;
}

/// RESULT null: the image has no prediction. An image that the file lacks is not evaluated, but keeps its index.
void CocoEvaluator::add(Part& part, const Shown& shown, const Result* result) {
  const CocoImage* said = find_image(*part.annotations, images_[shown.image].id);
  if (said == nullptr)
    part.metric.add({}, {});
  else
    part.metric.add(truth_of(part, *said, shown),
                    result == nullptr ? std::vector<FoundObject>() : found_in(part, *result));
}

void CocoEvaluator::add(std::size_t image, const Result& result) {
  const Shown shown{image, result.width, result.height};
  for (Part& part : parts_) {
    if (part.holds == Holds::kUnknown && !result.detections.empty()) {
      const bool holds = has(result.detections.front(), part.metric.by());
      part.holds = holds ? Holds::kYes : Holds::kNo;
      for (const Shown& earlier : part.waiting)
        if (holds) add(part, earlier, nullptr);
    }
    if (part.holds == Holds::kUnknown) part.waiting.push_back(shown);
    if (part.holds == Holds::kYes) add(part, shown, &result);
  }
  if (results_ != nullptr) write(image, result);
}

void CocoEvaluator::write(std::size_t image, const Result& result) {
  const Part& boxes = parts_.front();
  std::vector<FoundObject> found;
  std::vector<CocoResults::Prediction> predictions;
  for (const Detection& prediction : result.detections) {
    if (boxes.classes.of(prediction.class_id) < 0) continue;
    const double left = prediction.box[0];
    const double top = prediction.box[1];
    FoundObject& each = found.emplace_back();
    each.box = {left, top, prediction.box[2] - left, prediction.box[3] - top};
    each.class_id = boxes.classes.of(prediction.class_id);
    each.score = prediction.confidence;
    if (prediction.mask) each.mask.assign(prediction.mask->runs.begin(), prediction.mask->runs.end());
    for (const Keypoint& point : prediction.keypoints) each.keypoints.push_back({point.x, point.y});
    predictions.push_back({.category = boxes.annotations->categories[static_cast<std::size_t>(each.class_id)].id,
                           .object = nullptr,
                           .has_mask = prediction.mask.has_value()});
  }
  for (std::size_t i = 0; i < found.size(); ++i) predictions[i].object = &found[i];
  results_->add(images_[image].id, result.width, result.height, predictions);
}

std::vector<Score> CocoEvaluator::scores() const {
  std::vector<Score> scores;
  for (const Part& part : parts_)
    if (is_evaluated(part)) scores.push_back(score_of(part.metric, part.classes, part.annotations->path));
  return scores;
}

std::vector<Headline> CocoEvaluator::headlines() const {
  std::vector<Headline> headlines;
  for (const Part& part : parts_) {
    if (!is_evaluated(part)) continue;
    headlines.push_back([classes = part.metric.ranked(), most = part.metric.max_predictions()](
                            std::span<const int> times) { return average_precision(classes, most, times); });
  }
  return headlines;
}

std::vector<std::string> CocoEvaluator::notes() const {
  std::vector<std::string> notes;
  for (const Part& part : parts_) {
    if (!is_evaluated(part)) continue;
    std::vector<std::int64_t> objects(part.annotations->categories.size());
    for (const CocoImage& image : part.annotations->images)
      for (const CocoObject& object : image.objects) ++objects[object.category];
    for (std::string& note : unmatched(part.classes, model_, part.annotations->path, objects))
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    const auto strange = std::ranges::count_if(
        images_, [&](const DataImage& image) { return find_image(*part.annotations, image.id) == nullptr; });
    if (strange > 0)
      notes.push_back(fmt::format("{}: {} of the {} images are not in {} and are not evaluated with it",
                                  to_string(part.metric.by()), strange, images_.size(), part.annotations->path));
    if (part.annotations->repeated_ids > 0)
      notes.push_back(
          fmt::format("{}: {} of {}'s annotations share the ID of another one; each is evaluated, whereas pycocotools "
                      "uses the last one for all",
                      to_string(part.metric.by()), part.annotations->repeated_ids, part.annotations->path));
  }
  return notes;
}

}  // namespace saccade
