#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "validate/agreement.hpp"
#include "validate/data/evaluator.hpp"
#include "validate/resample.hpp"

namespace saccade {

/// The difference of one primary metric between a model and its reference.
struct Difference {
  std::string score;   ///< "box"
  std::string figure;  ///< "ap"
  double points = 0;   ///< in hundredths
  Resampled sets;      ///< 95 % interval, points
  bool holds = true;   ///< not worse than the reference by more than the tolerance
};

/// The comparison of a model with its reference.
struct Against {
  Agreement agreement;
  std::vector<Difference> differences;
  std::vector<std::string> notes;  ///< metrics that could not be compared, and why
  double tolerance = 0;            ///< points
  std::uint64_t seed = 0;

  /// Whether every difference holds, and there is at least one.
  bool holds() const;
};

/// A model's scores, and functions that compute the primary metrics of a resample.
struct Evaluated {
  std::string name;
  std::vector<Score> scores;
  std::vector<Headline> headlines;  ///< one per score
};

/// Compares the scores that were computed from the same ground truth and classes. A score that only the reference has
/// counts as 0 for MODEL. ON_PROGRESS receives the score being resampled and its progress; returning false ends the
/// resampling. The agreement is not computed.
Against compare(const Evaluated& model, const Evaluated& reference, std::size_t images, double tolerance,
                const ResampleOptions& resample,
                const std::function<bool(const std::string& score, double share)>& on_progress = {});

}  // namespace saccade
