#pragma once

#include "measure/profile/profile.hpp"

namespace saccade {

/// Derives figures, shares, bounds and the bottleneck from the recorded runs of PROFILE's plan on frames of this size.
/// Ceilings, overhead and times of the whole run must be set in PROFILE. Takes RECORDER's trace.
void assemble(Profile& profile, Recorder& recorder, const FrameSize& frame);

/// Derives the launches of PROFILE's second model from its RECORDER, after assemble(); all else must be set.
void assemble_second(Profile& profile, const Recorder& recorder);

}  // namespace saccade
