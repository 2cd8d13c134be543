#pragma once

#include <span>

#include "validate/recognition.hpp"

namespace saccade {

/// The evidence of a trial over all images; an image without counts 0.
double sum_of_evidence(const CardTrial& trial);

/// Whether a card with CARD's decoder, labels, color and normalization was certainly worse than another one with the
/// same resize and interpolation.
bool is_known_worse(const Card& card, std::span<const CardTrial> trials, const ResampleOptions& resample);

/// Sets the evidence of TO's trials and their distance behind the best, sorts them, and decides which card the images
/// tell. TO has a trial without a failure.
void decide(Recognition& to, const ResampleOptions& resample);

}  // namespace saccade
