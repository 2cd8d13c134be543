#pragma once

#include "measure/profile/profile.hpp"
#include "measure/report/page.hpp"

namespace saccade {

// The sections of a page that show a profile.

/// How the time from capture to result is spread, by stage and over the run.
void add_latency(Page& page, const Profile& profile);
/// The COUNT longest launches beside their bounds, and the roofline.
void add_launches(Page& page, const Profile& profile, std::size_t count);
/// A row a launch, in the order of the plan.
void add_launch_table(Page& page, const Profile& profile);
/// When no launch ran.
void add_gaps(Page& page, const Profile& profile);
/// Ceilings of the machine, and what recording cost.
void add_method(Page& page, const Profile& profile);

}  // namespace saccade
