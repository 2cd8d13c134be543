#pragma once

#include <map>
#include <vector>

#include "validate/data/evaluator.hpp"

namespace saccade {

/// Evaluates a classifier: top-1 and top-5.
class TopEvaluator final : public Evaluator {
 public:
  /// TRUTH is the model's class ID of every image; -1: the model lacks the class and the image is skipped. NAMES by
  /// class ID.
  TopEvaluator(std::vector<int> truth, std::map<int, std::string> names, Score::Truth known,
               std::vector<std::string> notes)
      : truth_(std::move(truth)), names_(std::move(names)), known_(std::move(known)), notes_(std::move(notes)) {}

  void add(std::size_t image, const Result& result) override;
  std::vector<Score> scores() const override;
  std::vector<Headline> headlines() const override;
  std::vector<double> true_class_probabilities() const override;
  std::vector<std::string> notes() const override { return notes_; }

 private:
  struct Prediction {
    int truth = 0;  ///< -1: skipped
    bool is_first = false;
    bool is_among_five = false;
    double probability = 0;  ///< of the true class; 0 if it is not among the reported ones
  };

  std::vector<int> truth_;
  std::map<int, std::string> names_;
  Score::Truth known_;
  std::vector<std::string> notes_;
  std::vector<Prediction> predictions_;
};

}  // namespace saccade
