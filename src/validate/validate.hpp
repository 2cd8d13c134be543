#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/fp32_keep_list.hpp"
#include "saccade/model.hpp"
#include "validate/against.hpp"
#include "validate/data/evaluator.hpp"
#include "validate/resample.hpp"

namespace saccade {

/// A model to evaluate.
struct EvaluatedModel {
  std::string file;
  ModelOptions options;
  NodeNames keep_fp32 = {};  ///< Fp32KeepList::products, if the precision is another
};

struct ValidateOptions {
  std::string data;  ///< "coco:FOLDER", ...; see open_data_set()
  EvaluatedModel model;
  std::optional<EvaluatedModel> against;  ///< the reference
  std::vector<std::string> conditions;    ///< names; see conditions()
  std::int64_t limit = 0;                 ///< images at most, spread evenly over the set; 0: all
  double tolerance = 0.5;                 ///< points that the model may be worse than the reference
  std::string results;                    ///< output file in COCO's results format; empty: none
  ResampleOptions resample;
};

/// The evaluation of one model.
struct Evaluation {
  std::string file;
  std::string name;  ///< distinguishes the two models
  std::string task;
  Precision precision = Precision::kAuto;  ///< as requested
  ModelOptions options;                    ///< effective options
  std::vector<Score> scores;
  std::vector<std::string> notes;
  std::size_t invalid = 0;  ///< images whose results are Result::invalid()
};

/// Scores under one condition.
struct ConditionEvaluation {
  std::string name;
  std::string strength;
  std::vector<std::vector<Score>> scores;  ///< one list per model
};

struct Validation {
  std::string data;
  std::string contents;         ///< "440 objects of 80 categories"
  std::size_t images = 0;       ///< evaluated images
  std::size_t all_images = 0;   ///< images of the data set
  bool is_interrupted = false;  ///< images, conditions or resamples are missing
  std::string device;
  std::chrono::nanoseconds elapsed{};  ///< of the original images: reading, models and evaluation
  std::vector<Evaluation> models;      ///< the model, then its reference
  std::vector<ConditionEvaluation> conditions;
  std::optional<Against> against;
};

struct ValidateEvents {
  /// The current step and its progress, 0 to 1.
  std::function<void(const std::string& what, double share)> progress;
  std::function<bool()> stop = [] { return false; };  ///< whether to end early with the results so far
};

/// Throws Error (kInvalidArgument) if what OPTIONS request is not evaluated on data of this kind. Opens nothing.
void check_options(const ValidateOptions& options);

/// Evaluates one or two models on the original images of a data set and under each condition. Throws Error if data or
/// models are invalid or do not match, or if an image cannot be read.
Validation validate(const ValidateOptions& options, const ValidateEvents& events);

}  // namespace saccade
