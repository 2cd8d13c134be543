#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saccade/model.hpp"
#include "validate/against.hpp"
#include "validate/evaluator.hpp"
#include "validate/resample.hpp"

namespace saccade {

/// A model to evaluate.
struct Candidate {
  std::string file;
  ModelOptions options;
};

struct ValidateOptions {
  std::string data;  ///< "coco:FOLDER", ...; see open_data_set()
  Candidate model;
  std::optional<Candidate> against;     ///< the reference
  std::vector<std::string> conditions;  ///< names; see conditions()
  std::int64_t limit = 0;               ///< images at most, spread evenly over the set; 0: all
  double tolerance = 0.5;               ///< points that the model may be worse than the reference
  std::string results;                  ///< a file for its predictions in COCO's format; empty: none
  ResampleOptions resample;
};

/// What was found about one model.
struct Evaluation {
  std::string file;
  std::string name;  ///< tells two of them apart
  std::string task;
  std::string precision;  ///< as it was asked for
  ModelOptions options;   ///< in force
  std::vector<Score> scores;
  std::vector<std::string> notes;
  std::size_t invalid = 0;  ///< images whose answers are Result::invalid()
};

/// On images that were spoilt under one condition.
struct ConditionScores {
  std::string name;
  std::string strength;
  std::vector<std::vector<Score>> scores;  ///< a list a model
};

struct Validation {
  std::string data;
  std::string contents;          ///< "440 objects of 80 categories"
  std::size_t pictures = 0;      ///< that were evaluated
  std::size_t all_pictures = 0;  ///< of the set
  bool is_interrupted = false;   ///< images, conditions or resampled sets are missing
  std::string device;
  std::chrono::nanoseconds elapsed{};  ///< of the original images: reading, models and evaluation
  std::vector<Evaluation> models;      ///< the model, then its reference
  std::vector<ConditionScores> conditions;
  std::optional<Against> against;
};

struct ValidateEvents {
  /// WHAT is being done, and how far it is, 0 to 1.
  std::function<void(const std::string& what, double share)> progress;
  std::function<bool()> stop = [] { return false; };  ///< whether to end early, with what is evaluated
};

/// Runs one or two models over a data set, as it is and under each condition, and evaluates their predictions. Throws
/// Error where data, models or the two together are invalid, and where any image can't be read.
Validation validate(const ValidateOptions& options, const ValidateEvents& events);

}  // namespace saccade
