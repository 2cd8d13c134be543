#pragma once

#include "validate/recognition.hpp"

namespace saccade {

/// The evidence of a trial over all images; an image without counts 0.
double sum_of_evidence(const CardTrial& trial);

/// Sets the evidence of TO's trials and their distance behind the best, sorts them, and decides which card the images
/// tell. TO has a trial without a failure.
void decide(Recognition& to, const ResampleOptions& resample);

}  // namespace saccade
