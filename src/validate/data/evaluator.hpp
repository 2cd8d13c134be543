#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Metrics of one kind of predictions of one model.
struct Score {
  struct Figure {
    std::string name;        ///< "ap", "top1", "abs_rel"
    double value = -1;       ///< -1: no data
    bool is_share = true;    ///< in 0 to 1
    bool is_signed = false;  ///< a negative value is one, too
  };
  struct Class {
    std::string name;
    std::int64_t count = 0;  ///< objects, images or pixels of the class
    double value = -1;       ///< its primary metric
  };
  /// The ground truth that was used: metrics of two models are comparable if it is the same.
  struct Truth {
    std::string file;                  ///< annotation file; empty: the data set has one ground truth for all models
    std::vector<std::string> classes;  ///< its classes that the model has

    bool operator==(const Truth&) const = default;
  };

  std::string name;             ///< "box", "mask", "keypoints", "class", "semantic", "depth", "tracks"
  std::string counted;          ///< the JSON key of a class's count: "objects", "pictures", "pixels", "identities"
  std::vector<Figure> figures;  ///< the first is the primary metric: 0 to 1, higher is better
  std::vector<Class> classes;   ///< those that occur in the images
  Truth truth{};

  double headline() const { return figures.front().value; }
};

/// The primary metric of a resample: image i, in order of evaluation, counts TIMES[i] times.
using Headline = std::function<double(std::span<const int> times)>;

/// Compares one model's predictions with the ground truth of a data set.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Adds the model's result for the image with the index IMAGE. Throws Error if the ground truth cannot be read or
  /// the model predicts nothing of the data set's kind.
  virtual void add(std::size_t image, const Result& result) = 0;
  /// Scores of the images so far, in the same order as headlines(). Throws Error (kInvalidArgument) if the model
  /// predicted nothing of the data set's kind.
  virtual std::vector<Score> scores() const = 0;
  /// Empty: the scores of resamples would mean nothing.
  virtual std::vector<Headline> headlines() const = 0;
  /// For each image so far, the probability that the model gives to its true class, NaN if the truth is unknown; empty
  /// if the data set has no classes of images.
  virtual std::vector<double> true_class_probabilities() const { return {}; }
  /// Remarks on the metrics, such as skipped classes.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace saccade
