#pragma once

#include <cstddef>
#include <vector>

#include "base/assignment.hpp"

namespace saccade {

/// Matches tracks with detections by overlap, one to one. Indices are those of the caller; what is matched leaves its
/// list.
class Association {
 public:
  /// Makes room for OBJECTS on as many tracks.
  void reserve(std::size_t objects) {
    assignment_.reserve(objects);
    overlaps_.reserve(objects * objects);
    weights_.reserve(objects * objects);
    is_matched_.reserve(objects);
  }

  /// For each pair whose overlap is at least LEAST, MATCH(track, detection). OVERLAP(track, detection) decides that;
  /// the sum of WEIGHT(track, detection, overlap) decides who is paired.
  template <typename Overlap, typename Weight, typename Match>
  void run(std::vector<std::size_t>& tracks, std::vector<std::size_t>& detections, double least, const Overlap& overlap,
           const Weight& weight, const Match& match) {
    if (tracks.empty() || detections.empty()) return;
    const std::size_t columns = detections.size();
    overlaps_.resize(tracks.size() * columns);
    weights_.resize(tracks.size() * columns);
    for (std::size_t i = 0; i < tracks.size(); ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const double found = overlap(tracks[i], detections[j]);
        overlaps_[i * columns + j] = found;
        weights_[i * columns + j] = weight(tracks[i], detections[j], found);
      }
    assignment_.solve(weights_, tracks.size(), columns);
    is_matched_.assign(columns, false);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const int column = assignment_.column_of(i);
      const auto j = static_cast<std::size_t>(column);
      if (column < 0 || overlaps_[i * columns + j] < least) {
        tracks[kept++] = tracks[i];
        continue;
      }
      is_matched_[j] = true;
      match(tracks[i], detections[j]);
    }
    tracks.resize(kept);
    kept = 0;
    for (std::size_t j = 0; j < columns; ++j)
      if (!is_matched_[j]) detections[kept++] = detections[j];
    detections.resize(kept);
  }

 private:
  Assignment assignment_;
  std::vector<double> overlaps_;
  std::vector<double> weights_;
  std::vector<bool> is_matched_;
};

}  // namespace saccade
