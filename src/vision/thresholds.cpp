#include "vision/thresholds.hpp"

#include <algorithm>

#include "vision/tasks.hpp"

namespace saccade {

float Thresholds::least() const { return std::ranges::min(by_class_); }

const Head* find_objects_head(const Card& card) {
  const auto finds = [](const Head& head) { return finds_objects(head.decoder->task); };
  const auto head = std::ranges::find_if(card.heads, finds);
  return head == card.heads.end() ? nullptr : &*head;
}

Thresholds result_thresholds(const Head& head, const PostprocessOptions& options) {
  if (options.confidence) return Thresholds({*options.confidence});
  return Thresholds(head.conf.empty() ? std::vector<float>{kUsualConfidence} : head.conf);
}

Thresholds graph_thresholds(const Head& head, const PostprocessOptions& options) {
  Thresholds thresholds = result_thresholds(head, options);
  const bool uses_lower = options.tracker && options.tracker->kind == TrackerKind::kByteTrack;
  if (!uses_lower || !finds_objects(head.decoder->task)) return thresholds;
  const auto low = static_cast<float>(options.tracker->low);
  std::vector<float> lower = thresholds.by_class();
  if (lower.empty()) lower.push_back(thresholds.least());
  for (float& each : lower) each = std::min(each, low);
  return Thresholds(std::move(lower));
}

}  // namespace saccade
