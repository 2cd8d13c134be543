#include "validate/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/utf8.hpp"
#include "metrics/edit_distance.hpp"
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

/// Number of WANTED's confident detections that THERE matches. VISIT receives each with its match.
template <typename Visit>
void match(const Result& wanted, const Result& there, double threshold, Agreement::Share& share, const Visit& visit) {
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
    visit(*each, **best);
    free.erase(best);
  }
}

void match(const Result& wanted, const Result& there, double threshold, Agreement::Share& share) {
  match(wanted, there, threshold, share, [](const Detection&, const Detection&) {});
}

}  // namespace

void KeptResult::keep(const Result& result) {
  result_ = result;
  texts_.resize(result.detections.size());
  second_classes_.resize(result.detections.size());
  for (std::size_t i = 0; i < result_.detections.size(); ++i) {
    Detection& each = result_.detections[i];
    each.keypoints = {};
    each.mask.reset();
    each.embedding = {};
    second_classes_[i].assign(each.classes.begin(), each.classes.end());
    each.classes = second_classes_[i];
    texts_[i] = each.text;
    each.text = texts_[i];
  }
  result_.image = {};
  result_.embedding = {};
  text_ = result.text;
  result_.text = text_;
  classes_.assign(result.class_map.cells.begin(), result.class_map.cells.end());
  result_.class_map.cells = classes_;
  depths_.assign(result.depth.cells.begin(), result.depth.cells.end());
  result_.depth.cells = depths_;
}

void Agreement::add(const Result& result, const Result& reference) {
  match(reference, result, 0.9, matched90);
  match(reference, result, 0.5, matched50,
        [this](const Detection& wanted, const Detection& found) { compare_second(found, wanted); });
  match(result, reference, 0.9, confirmed90);
  match(result, reference, 0.5, confirmed50);
  if (!reference.classes.empty()) {
    ++same_class.whole;
    same_class.part += !result.classes.empty() && is_same_class(result.classes[0], reference.classes[0]) ? 1 : 0;
  }
  compare_texts(result.text, reference.text);
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

void Agreement::compare_second(const Detection& object, const Detection& reference) {
  compare_texts(object.text, reference.text);
  if (reference.classes.empty()) return;
  ++same_second_class.whole;
  same_second_class.part += !object.classes.empty() && is_same_class(object.classes[0], reference.classes[0]) ? 1 : 0;
}

void Agreement::compare_texts(std::string_view text, std::string_view reference) {
  if (text.empty() && reference.empty()) return;
  ++same_texts.whole;
  same_texts.part += text == reference ? 1 : 0;
  character_errors.part += static_cast<std::int64_t>(edit_distance(text, reference));
  character_errors.whole += static_cast<std::int64_t>(utf8_count(reference));
}

}  // namespace saccade
