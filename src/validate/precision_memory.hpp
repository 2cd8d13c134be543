#pragma once

#include <optional>
#include <string>

#include "saccade/model.hpp"
#include "validate/precision_choice.hpp"

namespace saccade {

/// A decision of choose_precision() from another run.
struct RememberedPrecision {
  DecidedPrecision decided;
  std::string why;  ///< PrecisionChoice::why
};

/// What remember_precision() stored for a model with the same nodes and weights and the same options, on the same
/// device with the same version of the kernels; nothing if there is none. MODEL was read in Precision::kAuto.
std::optional<RememberedPrecision> remembered_precision(const Model& model);

/// Stores CHOICE for MODEL in cache_folder(), if there is one.
void remember_precision(const Model& model, const PrecisionChoice& choice);

/// Computes MODEL as DECIDED from its first compilation on, which must not have happened.
void use_precision(const Model& model, const DecidedPrecision& decided);

}  // namespace saccade
