#pragma once

#include "measure/profile/profile.hpp"

namespace saccade {

/// Fills in what follows from what was recorded of PROFILE's plan on frames of this size: figures, shares, bounds and
/// the bottleneck. Ceilings, overhead and times of the whole run must stand in PROFILE already. Takes RECORDER's trace.
void assemble(Profile& profile, Recorder& recorder, const FrameSize& frame);

}  // namespace saccade
