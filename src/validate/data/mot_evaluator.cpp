#include "validate/data/mot_evaluator.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assignment.hpp"
#include "ops/vision/box_overlap.hpp"

namespace saccade {
namespace {

/// Whether each of FOUND is assigned at IoU 0.5 to one of TRUTH that is IGNORED.
std::vector<bool> covered(const std::vector<MotObject>& truth, const std::vector<bool>& ignored,
                          const TrackedObjects& found) {
  constexpr double kLeast = 0.5 - 1e-12;
  std::vector<bool> is_covered(found.ids.size());
  if (truth.empty() || found.ids.empty()) return is_covered;
  std::vector<double> overlaps;
  for (const MotObject& object : truth)
    for (const auto& box : found.boxes) {
      const double overlap = box_overlap(object.box.data(), box.data());
      overlaps.push_back(overlap < kLeast ? 0 : overlap);
    }
  Assignment assignment;
  assignment.solve(overlaps, truth.size(), found.ids.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const int column = assignment.column_of(i);
    if (column < 0 || !ignored[i]) continue;
    const auto j = static_cast<std::size_t>(column);
    if (overlaps[i * found.ids.size() + j] > 0) is_covered[j] = true;
  }
  return is_covered;
}

}  // namespace

MotEvaluator::MotEvaluator(const MotFiles& files, std::vector<MotClass> evaluated, ClassMatch classes,
                           std::vector<std::string> notes)
    : files_(files), evaluated_(std::move(evaluated)), classes_(std::move(classes)), notes_(std::move(notes)) {
  std::size_t images = 0;
  for (const MotSequence& sequence : files_.sequences) {
    first_images_.push_back(images);
    images += sequence.images.size();
  }
  parts_.resize(evaluated_.size(), std::vector<Part>(files_.sequences.size()));
}

void MotEvaluator::add(std::size_t image, const Result& result) {
  const auto sequence =
      static_cast<std::size_t>(std::ranges::upper_bound(first_images_, image) - first_images_.begin()) - 1;
  const std::vector<MotObject>& truth = files_.sequences[sequence].frames[image - first_images_[sequence]];
  for (std::size_t i = 0; i < evaluated_.size(); ++i)
    if (classes_.known[i]) add(i, truth, result, parts_[i][sequence]);
}

void MotEvaluator::add(std::size_t evaluated, const std::vector<MotObject>& truth, const Result& result,
                       Part& part) const {
  const MotClass& counted = evaluated_[evaluated];
  TrackedObjects found;
  for (const Detection& each : result.detections) {
    if (each.track_id == 0 || classes_.of(each.class_id) != static_cast<int>(evaluated)) continue;
    found.ids.push_back(each.track_id);
    found.boxes.push_back({each.box[0], each.box[1], each.box[2], each.box[3]});
  }
  // Other classes' objects are assigned, too, but with classes of its own a data set says what is ignored.
  std::vector<MotObject> assigned;
  std::vector<bool> ignored;
  TrackedObjects kept_truth;
  for (const MotObject& object : truth) {
    const bool is_own = object.class_number == counted.number;
    if (is_own || !counted.ignores_uncounted) {
      assigned.push_back(object);
      ignored.push_back((is_own && counted.ignores_uncounted && !object.counts) ||
                        std::ranges::find(counted.distractors, object.class_number) != counted.distractors.end());
    }
    if (!is_own || !object.counts) continue;
    kept_truth.ids.push_back(object.id);
    kept_truth.boxes.push_back(object.box);
  }
  const std::vector<bool> removed = covered(assigned, ignored, found);
  TrackedObjects kept_found;
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    if (removed[i]) continue;
    kept_found.ids.push_back(found.ids[i]);
    kept_found.boxes.push_back(found.boxes[i]);
  }
  part.truth.push_back(std::move(kept_truth));
  part.found.push_back(std::move(kept_found));
}

std::vector<Score> MotEvaluator::scores() const {
  TrackingMetric all;
  Score score{.name = "tracks", .counted = "identities", .figures = {}, .classes = {}};
  for (std::size_t i = 0; i < evaluated_.size(); ++i) {
    if (!classes_.known[i]) continue;
    score.truth.classes.push_back(evaluated_[i].name);
    TrackingMetric metric;
    std::int64_t identities = 0;
    for (const Part& part : parts_[i]) {
      if (part.truth.empty()) continue;
      metric.add(part.truth, part.found);
      all.add(part.truth, part.found);
      std::set<std::int64_t> ids;
      for (const TrackedObjects& frame : part.truth) ids.insert(frame.ids.begin(), frame.ids.end());
      identities += static_cast<std::int64_t>(ids.size());
    }
    if (identities > 0) score.classes.push_back({evaluated_[i].name, identities, metric.scores().hota});
  }
  const TrackingScores s = all.scores();
  score.figures = {{"hota", s.hota},
                   {"deta", s.detection_accuracy},
                   {"assa", s.association_accuracy},
                   {"idf1", s.idf1},
                   {.name = "mota", .value = s.mota, .is_signed = true},
                   {"switches", static_cast<double>(s.switches), false}};
  return {score};
}

}  // namespace saccade
