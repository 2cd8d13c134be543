#include "metrics/segmentation_metric.hpp"

namespace saccade {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? -1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void SegmentationMetric::add(std::span<const std::int32_t> found, std::span<const std::uint16_t> truth) {
  std::vector<Count> counts(static_cast<std::size_t>(classes_));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == kIgnored) continue;
    ++counts[truth[i]].truth;
    if (found[i] < 0 || found[i] >= classes_) continue;
    ++counts[static_cast<std::size_t>(found[i])].found;
    if (found[i] == truth[i]) ++counts[truth[i]].both;
  }
  std::vector<Count>& kept = images_.emplace_back();
  for (int c = 0; c < classes_; ++c) {
    Count count = counts[static_cast<std::size_t>(c)];
    count.class_id = c;
    if (count.truth + count.found > 0) kept.push_back(count);
  }
}

std::vector<SegmentationMetric::Count> SegmentationMetric::totals(std::span<const int> times) const {
  std::vector<Count> totals(static_cast<std::size_t>(classes_));
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const std::int64_t count = times.empty() ? 1 : times[i];
    for (const Count& each : images_[i]) {
      Count& total = totals[static_cast<std::size_t>(each.class_id)];
      total.truth += count * each.truth;
      total.found += count * each.found;
      total.both += count * each.both;
    }
  }
  return totals;
}

SegmentationMetric::Scores SegmentationMetric::scores(std::span<const int> times) const {
  double sum = 0;
  int classes = 0;
  std::int64_t right = 0;
  std::int64_t pixels = 0;
  for (const Count& total : totals(times)) {
    right += total.both;
    pixels += total.truth;
    const std::int64_t either = total.truth + total.found - total.both;
    if (either == 0) continue;
    sum += share(total.both, either);
    ++classes;
  }
  return {.mean_iou = classes == 0 ? -1 : sum / classes, .accuracy = share(right, pixels)};
}

SegmentationMetric::ClassScores SegmentationMetric::class_scores(int class_id) const {
  const Count total = totals({})[static_cast<std::size_t>(class_id)];
  return {.pixels = total.truth, .iou = share(total.both, total.truth + total.found - total.both)};
}

}  // namespace saccade
