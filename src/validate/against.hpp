#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "validate/agreement.hpp"
#include "validate/data/evaluator.hpp"
#include "validate/resample.hpp"

namespace saccade {

/// One headline of a model less its reference's.
struct Difference {
  std::string score;   ///< "box"
  std::string figure;  ///< "ap"
  double points = 0;   ///< hundredths
  Resampled sets;      ///< what 95 % of them give, points
  bool holds = true;   ///< it is not worse by more than the tolerance
};

/// A model beside its reference.
struct Against {
  Agreement agreement;
  std::vector<Difference> differences;
  std::vector<std::string> notes;  ///< what could not be compared, and why
  double tolerance = 0;            ///< points
  std::uint64_t seed = 0;

  /// Whether every difference does, and there is any.
  bool holds() const;
};

/// A model's figures, and how to work the headlines out for a selection of its images.
struct Evaluated {
  std::string name;
  std::vector<Score> scores;
  std::vector<Headline> headlines;  ///< one a score
};

/// Compares what both were evaluated by in the same way: other truths, or other classes of it, make other figures. What
/// the reference has and MODEL lacks counts as 0. ON_PROGRESS gets the score that is resampled, and how far it is;
/// false from it ends the drawing. The agreement is left as it is.
Against compare(const Evaluated& model, const Evaluated& reference, std::size_t pictures, double tolerance,
                const ResampleOptions& resample,
                const std::function<bool(const std::string& score, double share)>& on_progress = {});

}  // namespace saccade
