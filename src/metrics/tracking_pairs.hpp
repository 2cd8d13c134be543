#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "metrics/tracking_metric.hpp"

namespace saccade {

/// The identities of a sequence, numbered from 0, and how many detections each has.
class TrackIdentities {
 public:
  explicit TrackIdentities(std::span<const TrackedObjects> frames);
  std::size_t number(std::int64_t id) const { return numbers_.at(id); }
  std::size_t size() const { return counts_.size(); }
  double count(std::size_t number) const { return counts_[number]; }
  double detections() const;

 private:
  std::unordered_map<std::int64_t, std::size_t> numbers_;
  std::vector<double> counts_;
};

/// One frame, by numbers of identities.
struct TrackPairs {
  std::vector<std::size_t> truth;
  std::vector<std::size_t> found;
  std::vector<double> overlaps;  ///< IoU, truth x found

  double overlap(std::size_t i, std::size_t j) const { return overlaps[i * found.size() + j]; }
};

/// A sequence of the truth and of tracks.
struct TrackSequence {
  TrackIdentities truth;
  TrackIdentities found;
  std::vector<TrackPairs> frames;

  /// Throws Error (kInvalidArgument) as TrackingMetric::add().
  TrackSequence(std::span<const TrackedObjects> of_truth, std::span<const TrackedObjects> of_found);
};

/// A number for each pair of identities.
class PairTable {
 public:
  explicit PairTable(const TrackSequence& sequence)
      : found_(sequence.found.size()), values_(sequence.truth.size() * found_) {}
  double& at(std::size_t truth, std::size_t found) { return values_[truth * found_ + found]; }
  std::span<const double> values() const { return values_; }

 private:
  std::size_t found_;
  std::vector<double> values_;
};

}  // namespace saccade
