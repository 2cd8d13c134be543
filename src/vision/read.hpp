#pragma once

#include "vision/attach.hpp"

namespace saccade {

/// Room for the most answers that the options allow, so that read_results() never allocates; also sets the task.
void reserve_results(const Card& card, const PostOptions& options, Result& result);

/// Turns the outputs of an attached graph, in their order, into RESULT's detections or classes; their class names point
/// into CARD.
void read_results(const Card& card, std::span<const TensorView> outputs, Result& result);

}  // namespace saccade
