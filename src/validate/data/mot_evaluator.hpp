#pragma once

#include <string>
#include <vector>

#include "metrics/tracking_metric.hpp"
#include "validate/data/class_match.hpp"
#include "validate/data/evaluator.hpp"
#include "validate/data/mot_files.hpp"

namespace saccade {

/// A class whose tracks are evaluated.
struct MotClass {
  std::string name;
  int number = 1;                     ///< MotObject::class_number
  std::vector<int> distractors = {};  ///< numbers of classes whose predictions are ignored
  bool ignores_uncounted = false;     ///< predictions of its own objects that do not count, too
};

/// Evaluates tracks: HOTA, IDF1, CLEAR MOT. Predictions are removed as TrackEval does for MOTChallenge: those assigned
/// at IoU 0.5 to an ignored object.
class MotEvaluator final : public Evaluator {
 public:
  /// FILES outlive it. The i-th category of CLASSES is the i-th of EVALUATED.
  MotEvaluator(const MotFiles& files, std::vector<MotClass> evaluated, ClassMatch classes,
               std::vector<std::string> notes);

  void add(std::size_t image, const Result& result) override;
  std::vector<Score> scores() const override;
  /// None: images of a video can't be resampled.
  std::vector<Headline> headlines() const override { return {}; }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  /// One class in one sequence.
  struct Part {
    std::vector<TrackedObjects> truth;
    std::vector<TrackedObjects> found;
  };

  void add(std::size_t evaluated, const std::vector<MotObject>& truth, const Result& result, Part& part) const;

  const MotFiles& files_;
  std::vector<MotClass> evaluated_;
  ClassMatch classes_;
  std::vector<std::string> notes_;
  std::vector<std::size_t> first_images_;  ///< of each sequence
  std::vector<std::vector<Part>> parts_;   ///< by class and sequence
};

}  // namespace saccade
