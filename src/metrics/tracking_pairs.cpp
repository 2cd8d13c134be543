#include "metrics/tracking_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "metrics/similarity.hpp"

namespace saccade {
namespace {

/// Of a pixel's coordinate; areas of larger boxes would overflow.
constexpr double kLargest = 1e9;

CocoBox coco_box(const std::array<double, 4>& box) { return {box[0], box[1], box[2] - box[0], box[3] - box[1]}; }

std::vector<std::size_t> numbers_of(const TrackedObjects& objects, const TrackIdentities& identities) {
  if (objects.ids.size() != objects.boxes.size())
    fail(ErrorCode::kInvalidArgument, "{} identities for {} boxes", objects.ids.size(), objects.boxes.size());
  for (const auto& box : objects.boxes)
    if (!std::ranges::all_of(box, [](double side) { return std::abs(side) < kLargest; }))
      fail(ErrorCode::kInvalidArgument, "a box has the sides {}", fmt::join(box, ", "));
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
      for (const auto& b : of_found[t].boxes) frame.overlaps.push_back(overlap(coco_box(a), coco_box(b), false));
  }
}

}  // namespace saccade
