#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saccade/results.hpp"

namespace saccade {

/// Figures of one kind about one model's answers.
struct Score {
  struct Figure {
    std::string name;      ///< "ap", "top1", "abs_rel"
    double value = -1;     ///< -1: nothing to measure it on
    bool is_share = true;  ///< from 0 to 1
  };
  struct Class {
    std::string name;
    std::int64_t count = 0;  ///< objects, pictures or pixels of it
    double value = -1;       ///< its share in the headline
  };
  /// What the answers were evaluated by: figures of two models can be compared where it is the same.
  struct Truth {
    std::string file;                  ///< of annotations; empty: the data set has one truth for all models
    std::vector<std::string> classes;  ///< in it, those that the model knows

    bool operator==(const Truth&) const = default;
  };

  std::string name;             ///< "box", "mask", "keypoints", "class", "semantic", "depth"
  std::string counted;          ///< what a class's count counts: "objects", "pictures", "pixels"
  std::vector<Figure> figures;  ///< the first is the headline: from 0 to 1, more is better
  std::vector<Class> classes;   ///< those that there are in the pictures
  Truth truth{};

  double headline() const { return figures.front().value; }
};

/// The headline of a selection of pictures: picture i, in the order in which they were evaluated, counts TIMES[i]
/// times.
using Headline = std::function<double(std::span<const int> times)>;

/// Compares one model's answers with what a data set knows of its pictures.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// The model's answer to the data set's picture number PICTURE. Throws Error where the truth can't be read, or the
  /// model gives no answers of the data set's kind.
  virtual void add(std::size_t picture, const Result& result) = 0;
  /// Of the pictures so far; the same kinds, in the same order, as headlines(). Throws Error (kInvalidArgument) where
  /// the model gave no answers of the data set's kind.
  virtual std::vector<Score> scores() const = 0;
  virtual std::vector<Headline> headlines() const = 0;
  /// What a reader of the figures must know: classes that were left out.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace saccade
