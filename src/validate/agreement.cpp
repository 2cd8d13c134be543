#include "validate/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "metrics/similarity.hpp"

namespace saccade {
namespace {

CocoBox box_of(const Detection& prediction) {
  const double left = prediction.box[0];
  const double top = prediction.box[1];
  return {left, top, prediction.box[2] - left, prediction.box[3] - top};
}

/// Two models may have different IDs for the same class.
template <typename Prediction>
bool is_same_class(const Prediction& a, const Prediction& b) {
  return a.class_name.empty() && b.class_name.empty() ? a.class_id == b.class_id : a.class_name == b.class_name;
}

/// Detections of at least CONFIDENCE, in descending order of confidence.
std::vector<const Detection*> from(const Result& result, float confidence) {
  std::vector<const Detection*> predictions;
  for (const Detection& each : result.detections)
    if (each.confidence >= confidence) predictions.push_back(&each);
  std::ranges::stable_sort(predictions, std::greater<>(), &Detection::confidence);
  return predictions;
}

/// Number of WANTED's confident detections that THERE matches.
void match(const Result& wanted, const Result& there, double threshold, Agreement::Share& share) {
  std::vector<const Detection*> free = from(there, Agreement::kNearlySure);
  for (const Detection* each : from(wanted, Agreement::kSure)) {
    ++share.whole;
    auto best = free.end();
    double most = threshold;
    for (auto it = free.begin(); it != free.end(); ++it) {
      if (!is_same_class(*each, **it)) continue;
      const double common = overlap(box_of(*each), box_of(**it), false);
      // A NaN box matches nothing: every comparison with it is false.
      if (!(common >= most) || (best != free.end() && common == most)) continue;
      most = common;
      best = it;
    }
    if (best == free.end()) continue;
    ++share.part;
    free.erase(best);
  }
}

}  // namespace

void KeptResult::keep(const Result& result) {
  result_ = result;
  for (Detection& each : result_.detections) {
    each.keypoints = {};
    each.mask.reset();
  }
  result_.image = {};
  result_.embedding = {};
  result_.text = {};
  classes_.assign(result.class_map.cells.begin(), result.class_map.cells.end());
  result_.class_map.cells = classes_;
  depths_.assign(result.depth.cells.begin(), result.depth.cells.end());
  result_.depth.cells = depths_;
}

void Agreement::add(const Result& result, const Result& reference) {
  match(reference, result, 0.9, matched90);
  match(reference, result, 0.5, matched50);
  match(result, reference, 0.9, confirmed90);
  match(result, reference, 0.5, confirmed50);
  if (!reference.classes.empty()) {
    ++same_class.whole;
    same_class.part += !result.classes.empty() && is_same_class(result.classes[0], reference.classes[0]) ? 1 : 0;
  }
  const bool has_maps = !result.class_map.cells.empty() && !reference.class_map.cells.empty();
  const bool has_depths =
      !result.depth.cells.empty() && !reference.depth.cells.empty() && result.depth.kind == reference.depth.kind;
  const float reach = kNearby * (reference.depth.max - reference.depth.min);
  for (int y = 0; y < reference.height && (has_maps || has_depths); ++y) {
    for (int x = 0; x < reference.width; ++x) {
      if (has_maps) {
        ++same_pixels.whole;
        same_pixels.part += result.class_map.at(x, y) == reference.class_map.at(x, y) ? 1 : 0;
      }
      const float depth = has_depths ? reference.depth.at(x, y) : NAN;
      if (std::isnan(depth)) continue;
      ++near_pixels.whole;
      near_pixels.part += std::abs(result.depth.at(x, y) - depth) <= reach ? 1 : 0;
    }
  }
}

}  // namespace saccade
