#pragma once

#include "measure/profile/profile.hpp"
#include "measure/report/page.hpp"

namespace saccade {

// Sections of a page that show a profile.

/// The distribution of the latency, by stage and over the run.
void add_latency(Page& page, const Profile& profile);
/// The COUNT longest launches with their bounds, and the roofline.
void add_launches(Page& page, const Profile& profile, std::size_t count);
/// One row per launch, in the order of the plan.
void add_launch_table(Page& page, const Profile& profile);
/// Idle time without a running launch.
void add_gaps(Page& page, const Profile& profile);
/// Ceilings of the machine, and the recording overhead.
void add_method(Page& page, const Profile& profile);

}  // namespace saccade
