#include "metrics/tracking_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace saccade {
namespace {

double box_iou(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  const double width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  const double common = width * height;
  const double iou = common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
  return std::isfinite(iou) ? iou : 0;
}

std::vector<std::size_t> numbers_of(const TrackedObjects& objects, const TrackIdentities& identities) {
  if (objects.ids.size() != objects.boxes.size())
    fail(ErrorCode::kInvalidArgument, "{} identities for {} boxes", objects.ids.size(), objects.boxes.size());
  std::vector<std::size_t> numbers;
  for (const std::int64_t id : objects.ids) {
    const std::size_t number = identities.number(id);
    if (std::ranges::find(numbers, number) != numbers.end())
      fail(ErrorCode::kInvalidArgument, "the identity {} occurs twice in a frame", id);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

TrackIdentities::TrackIdentities(std::span<const TrackedObjects> frames) {
  for (const TrackedObjects& frame : frames)
    for (const std::int64_t id : frame.ids) {
      const auto [entry, is_new] = numbers_.emplace(id, counts_.size());
      if (is_new) counts_.push_back(0);
      ++counts_[entry->second];
    }
}

double TrackIdentities::detections() const { return std::accumulate(counts_.begin(), counts_.end(), 0.0); }

TrackSequence::TrackSequence(std::span<const TrackedObjects> of_truth, std::span<const TrackedObjects> of_found)
    : truth(of_truth), found(of_found) {
  if (of_truth.size() != of_found.size())
    fail(ErrorCode::kInvalidArgument, "{} frames of truth for {} of tracks", of_truth.size(), of_found.size());
  for (std::size_t t = 0; t < of_truth.size(); ++t) {
    TrackPairs& frame = frames.emplace_back();
    frame.truth = numbers_of(of_truth[t], truth);
    frame.found = numbers_of(of_found[t], found);
    for (const auto& a : of_truth[t].boxes)
      for (const auto& b : of_found[t].boxes) frame.overlaps.push_back(box_iou(a, b));
  }
}

}  // namespace saccade
