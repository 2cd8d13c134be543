#pragma once

#include "measure/profile/profile.hpp"

namespace saccade {

/// Derives figures, shares, bounds and the bottleneck from the recorded runs of PROFILE's plan on frames of this size.
/// Ceilings, overhead and times of the whole run must be set in PROFILE. Takes RECORDER's trace.
void assemble(Profile& profile, Recorder& recorder, const FrameSize& frame);

}  // namespace saccade
