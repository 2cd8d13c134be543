#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace saccade {

/// Version 1 has a tree of groups for each controller (memory, cpu), version 2 has one tree for all.
enum class GroupVersion : std::uint8_t { kFirst, kSecond };

/// The limit of a group that has none.
inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// A limit of one control group, whose files are in FOLDER; kNoLimit if it has none.
using LimitOfGroup = std::function<std::size_t(const std::filesystem::path& folder, GroupVersion version)>;

/// The least limit of the control groups of CONTROLLER that GROUPS (/proc/self/cgroup) names and of their parents. ROOT
/// is the mount point of their file system. kNoLimit if there is none.
std::size_t least_of_groups(const std::filesystem::path& root, std::string_view groups, std::string_view controller,
                            const LimitOfGroup& limit_of);

/// The number at the beginning of a control group's file; kNoLimit if it holds "max" or does not exist.
std::size_t number_in_group(const std::filesystem::path& file);

/// Where the system mounts control groups.
inline constexpr const char* kGroupsRoot = "/sys/fs/cgroup";
/// The text of /proc/self/cgroup.
const std::string& groups_of_process();

}  // namespace saccade
