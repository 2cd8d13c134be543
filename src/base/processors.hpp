#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace saccade {

/// The processors that the calling thread may use: those of its affinity mask, or fewer if a control group limits the
/// processor time of the process. At least 1.
int available_processors();

/// The least limit of processor time, in processors and rounded up, of the control groups that GROUPS
/// (/proc/self/cgroup) names and of their parents; ROOT is the mount point of their file system. The largest number if
/// there is none.
std::size_t control_group_processors(const std::filesystem::path& root, std::string_view groups);

}  // namespace saccade
