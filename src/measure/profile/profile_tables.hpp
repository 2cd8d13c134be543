#pragma once

#include <vector>

#include "measure/profile/profile.hpp"
#include "measure/report/table.hpp"

namespace saccade {

// Tables shared by the page and the terminal.

/// One row per stage: figures, share, bound, headroom.
Table stages_table(const Profile& profile);
/// One row per launch.
Table launches_table(const std::vector<const LaunchProfile*>& launches);
/// Idle time without a running launch.
Table gaps_table(const Profile& profile);
/// The recording overhead as a sentence.
std::string overhead_text(const Overhead& overhead);

/// The number of launches that took less than their bound by more than 3 %, by the medians: the ceilings are too low.
std::int64_t launches_beyond_bound(const Profile& profile);
/// What that means, in a sentence; empty if there are none.
std::string ceilings_text(const Profile& profile);

/// The COUNT longest of LAUNCHES by median time, in descending order.
std::vector<const LaunchProfile*> longest_launches(const std::vector<LaunchProfile>& launches, std::size_t count);
/// In the order of the plan.
std::vector<const LaunchProfile*> all_launches(const Profile& profile);

}  // namespace saccade
