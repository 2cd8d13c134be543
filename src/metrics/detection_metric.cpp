#include "metrics/detection_metric.hpp"

#include <algorithm>
#include <functional>

#include "metrics/object_match.hpp"

namespace saccade {
namespace {

/// Indices of the elements of one class.
template <typename T>
std::vector<std::size_t> of_class(std::span<const T> all, int class_id) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].class_id == class_id) chosen.push_back(i);
  return chosen;
}

/// The axis-aligned bounding box of the joints, COCO's size of a keypoint prediction.
double area_around(std::span<const CocoPoint> points) {
  if (points.empty()) return 0;
  const auto [left, right] = std::ranges::minmax(points, {}, &CocoPoint::x);
  const auto [top, bottom] = std::ranges::minmax(points, {}, &CocoPoint::y);
  return (right.x - left.x) * (bottom.y - top.y);
}

}  // namespace

DetectionMetric::DetectionMetric(int classes, Similarity by, std::vector<double> sigmas)
    : by_(by), sigmas_(std::move(sigmas)), classes_(static_cast<std::size_t>(classes)) {}

void DetectionMetric::add(std::span<const TrueObject> truth, std::span<const FoundObject> found) {
  for (int c = 0; c < static_cast<int>(classes_.size()); ++c) match(truth, found, c);
  ++images_;
}

int DetectionMetric::max_predictions() const { return by_ == Similarity::kKeypoints ? 20 : 100; }

double DetectionMetric::similarity(const FoundObject& found, const TrueObject& truth) const {
  switch (by_) {
    case Similarity::kMask: return overlap(found.mask, truth.mask, truth.crowd);
    case Similarity::kKeypoints: return keypoint_similarity(found.keypoints, truth, sigmas_);
    default: return overlap(found.box, truth.box, truth.crowd);
  }
}

double DetectionMetric::area_of(const FoundObject& found) const {
  switch (by_) {
    case Similarity::kMask: return static_cast<double>(saccade::area_of(found.mask));
    case Similarity::kKeypoints: return area_around(found.keypoints);
    default: return found.box.width * found.box.height;
  }
}

void DetectionMetric::match(std::span<const TrueObject> truth, std::span<const FoundObject> found, int class_id) {
  const std::vector<std::size_t> objects = of_class(truth, class_id);
  std::vector<std::size_t> predictions = of_class(found, class_id);
  if (objects.empty() && predictions.empty()) return;
  std::ranges::stable_sort(predictions, std::greater<>(), [&](std::size_t i) { return found[i].score; });
  predictions.resize(std::min(predictions.size(), static_cast<std::size_t>(max_predictions())));

  ObjectMatch match;
  for (const std::size_t g : objects)
    match.objects.push_back({truth[g].area, truth[g].crowd, truth[g].crowd || truth[g].ignored});
  for (const std::size_t d : predictions) {
    match.areas.push_back(area_of(found[d]));
    for (const std::size_t g : objects) match.similarity.push_back(similarity(found[d], truth[g]));
  }
  ClassRecord& record = classes_[static_cast<std::size_t>(class_id)];
  const std::size_t first = record.predictions.size();
  for (std::size_t i = 0; i < predictions.size(); ++i)
    record.predictions.push_back({.score = found[predictions[i]].score, .image = images_, .rank = static_cast<int>(i)});
  record.wanted.push_back({.image = images_});
  match.run(std::span(record.predictions).subspan(first), record.wanted.back());
}

std::vector<RankedPredictions> DetectionMetric::ranked() const {
  std::vector<RankedPredictions> all;
  for (const ClassRecord& record : classes_) all.emplace_back(record.predictions, record.wanted);
  return all;
}

DetectionScores DetectionMetric::scores() const {
  const std::vector<RankedPredictions> classes = ranked();
  const auto curves = [&](std::size_t area, int most) {
    std::vector<RankedPredictions::Curves> each;
    each.reserve(classes.size());
    for (const RankedPredictions& predictions : classes) each.push_back(predictions.curves(area, most));
    return each;
  };
  constexpr auto kPrecision = &RankedPredictions::Curve::precision;
  constexpr auto kRecall = &RankedPredictions::Curve::recall;
  const auto all = curves(0, max_predictions());
  const auto medium = curves(2, max_predictions());
  const auto large = curves(3, max_predictions());
  DetectionScores scores{.ap = mean(all, kPrecision),
                         .ap50 = mean(all, kPrecision, 0, 0),
                         .ap75 = mean(all, kPrecision, 5, 5),
                         .ap_medium = mean(medium, kPrecision),
                         .ap_large = mean(large, kPrecision),
                         .ar1 = mean(curves(0, 1), kRecall),
                         .ar10 = mean(curves(0, 10), kRecall),
                         .ar = mean(all, kRecall),
                         .ar50 = mean(all, kRecall, 0, 0),
                         .ar75 = mean(all, kRecall, 5, 5),
                         .ar_medium = mean(medium, kRecall),
                         .ar_large = mean(large, kRecall)};
  if (by_ == Similarity::kKeypoints) return scores;
  const auto small = curves(1, max_predictions());
  scores.ap_small = mean(small, kPrecision);
  scores.ar_small = mean(small, kRecall);
  return scores;
}

DetectionMetric::ClassScores DetectionMetric::class_scores(int class_id) const {
  const ClassRecord& record = classes_.at(static_cast<std::size_t>(class_id));
  const RankedPredictions predictions(record.predictions, record.wanted);
  const RankedPredictions::Curves curves = predictions.curves(0, max_predictions());
  return {.objects = predictions.objects(),
          .ap = mean({&curves, 1}, &RankedPredictions::Curve::precision),
          .ap50 = curves[0].precision};
}

double average_precision(std::span<const RankedPredictions> classes, int most, std::span<const int> times) {
  std::vector<RankedPredictions::Curves> curves;
  for (const RankedPredictions& predictions : classes) curves.push_back(predictions.curves(0, most, times));
  return mean(curves, &RankedPredictions::Curve::precision);
}

}  // namespace saccade
