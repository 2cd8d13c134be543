#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/model/decided_precision.hpp"
#include "saccade/model.hpp"
#include "validate/agreement.hpp"
#include "validate/sensitive_products.hpp"

namespace saccade {

/// What Precision::kAuto is decided by.
struct PrecisionRequest {
  std::string model;       ///< an ONNX file
  ModelOptions options;    ///< the precision is not read
  std::string data;        ///< annotated images as for validate(); empty: frames of the built-in scene
  double tolerance = 0.5;  ///< points of accuracy that may be lost on DATA
  std::vector<Precision> candidates;
};

/// A precision that ran beside fp32, with all products in it or with those that drift most in fp32.
struct PrecisionCandidate {
  Precision precision = Precision::kFp32;
  NodeNames kept = {};                       ///< the products that stay in fp32
  std::optional<std::size_t> products = {};  ///< of the model that the precision can narrow, if they were counted
  double time = 1;                           ///< of a frame, relative to fp32: median of pairs
  bool agrees = false;                       ///< with the predictions in fp32
  bool is_comparable = false;                ///< whether there were enough predictions
  std::string evidence;                      ///< "99.7 % of 356 boxes matched"
};

struct PrecisionChoice {
  DecidedPrecision decided{.precision = Precision::kFp32};
  std::string why;  ///< one phrase
  std::vector<PrecisionCandidate> candidates;
};

struct PrecisionEvents {
  std::function<void(const std::string& what, double share)> progress = {};
};

/// Precisions that may be faster than fp32 on the device of OPTIONS (not Device::Kind::kAuto), as this machine is.
std::vector<Precision> faster_precisions(const ModelOptions& options);

/// The fastest precision whose predictions agree with those in fp32: on DATA by accuracy, else on frames by 99 % of at
/// least 200 predictions (boxes matched with an IoU of 0.9, top classes, pixels). If they differ in a precision that is
/// faster, it is tried again with the products in fp32 that drift most: see steps_to_keep(). fp32 if there are too few
/// predictions, and without DATA for a model that selects_queries(): frames of the scene don't show how often rounding
/// exchanges them. Compiles and runs the model in all of them. Throws Error.
PrecisionChoice choose_precision(const PrecisionRequest& request, const PrecisionEvents& events = {});

/// Whether AGREEMENT on frames suffices, and in numbers how far it goes.
PrecisionCandidate candidate_of(Precision precision, double time, const Agreement& agreement);
/// The fastest of CANDIDATES that agrees and takes less than 0.97 of the time; else fp32, and why.
PrecisionChoice decide(std::vector<PrecisionCandidate> candidates);

}  // namespace saccade
