#pragma once

#include <vector>

#include "measure/profile/profile.hpp"
#include "measure/report/table.hpp"

namespace saccade {

// The tables that the page and the terminal share.

/// A row a stage: figures, share, bound, headroom.
Table stages_table(const Profile& profile);
/// A row a launch.
Table launches_table(const std::vector<const LaunchProfile*>& launches);
/// When no launch ran.
Table gaps_table(const Profile& profile);
/// What recording cost, in a sentence.
std::string overhead_text(const Overhead& overhead);

/// PROFILE's launches by median time, the longest first; COUNT at most.
std::vector<const LaunchProfile*> longest_launches(const Profile& profile, std::size_t count);
/// In the order of the plan.
std::vector<const LaunchProfile*> all_launches(const Profile& profile);

}  // namespace saccade
