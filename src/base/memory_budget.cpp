#include "base/memory_budget.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>

#include "base/error.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// The number in a control group's file; no limit if it holds "max" or does not exist.
std::size_t limit_in(const fs::path& file) {
  std::ifstream stream(file);
  std::size_t limit = 0;
  return stream >> limit ? limit : kUnlimited;
}

/// The number after NAME in a file of names and numbers; 0 if it is missing.
std::size_t number_behind(const fs::path& file, std::string_view name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string word;
    std::size_t number = 0;
    if (words >> word >> number && word == name) return number;
  }
  return 0;
}

/// File names of a version of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* cached;  ///< in memory.stat: inactive file cache, child groups included
};
constexpr GroupFiles kFirstVersion{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kSecondVersion{"memory.max", "memory.current", "inactive_file"};

std::size_t limit_of(const fs::path& folder, const GroupFiles& names) { return limit_in(folder / names.limit); }

std::size_t room_of(const fs::path& folder, const GroupFiles& names) {
  const std::size_t limit = limit_in(folder / names.limit);
  std::size_t used = limit_in(folder / names.used);
  if (limit == kUnlimited || used == kUnlimited) return limit;
  used -= std::min(used, number_behind(folder / "memory.stat", names.cached));
  return limit - std::min(limit, used);
}

using OfGroup = std::size_t (*)(const fs::path& folder, const GroupFiles& names);

/// The smallest value of OF_GROUP over FOLDER and its parents up to ROOT.
std::size_t least_to_root(const fs::path& root, const fs::path& group, const GroupFiles& names, OfGroup of_group) {
  std::size_t least = of_group(root, names);
  fs::path folder = root;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    least = std::min(least, of_group(folder, names));
  }
  return least;
}

std::size_t least_of_groups(const fs::path& root, std::string_view groups, OfGroup of_group) {
  std::size_t least = kUnlimited;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    // NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const fs::path group(line.substr(second + 1));
    if (controllers.empty()) least = std::min(least, least_to_root(root, group, kSecondVersion, of_group));
    if (fmt::format(",{},", controllers).find(",memory,") != std::string::npos)
      least = std::min(least, least_to_root(root / "memory", group, kFirstVersion, of_group));
  }
  return least;
}

std::string read_whole(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string& groups_of_process() {
  static const std::string groups = read_whole("/proc/self/cgroup");
  return groups;
}

constexpr const char* kGroupsRoot = "/sys/fs/cgroup";

std::size_t page_bytes() { return static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 1L)); }

std::size_t memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::size_t>(pages) * page_bytes() : kUnlimited;
}

/// What remains of the limit of RESOURCE. COLUMN: the number in /proc/self/statm that counts against it.
std::size_t room_within(int resource, int column) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnlimited;
  std::ifstream stream("/proc/self/statm");
  std::size_t pages = 0;
  for (int i = 0; i <= column; ++i) stream >> pages;
  return limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, pages * page_bytes());
}

/// What remains of the process' address space (`ulimit -v`) and writable memory (`ulimit -d`).
std::size_t room_within_limits() { return std::min(room_within(RLIMIT_AS, 0), room_within(RLIMIT_DATA, 5)); }

}  // namespace

std::string readable_bytes(std::size_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::size_t control_group_limit(const fs::path& root, std::string_view groups) {
  return least_of_groups(root, groups, limit_of);
}

std::size_t control_group_room(const fs::path& root, std::string_view groups) {
  return least_of_groups(root, groups, room_of);
}

std::size_t default_memory_limit() {
  static const std::size_t memory =
      std::min(memory_of_machine(), control_group_limit(kGroupsRoot, groups_of_process()));
  return std::min(memory, room_within_limits()) / 4 * 3;
}

std::size_t free_memory() {
  constexpr std::size_t kKilo = 1024;  // the unit of /proc/meminfo
  const std::size_t available = number_behind("/proc/meminfo", "MemAvailable:") * kKilo;
  return std::min({available == 0 ? memory_of_machine() : available,
                   control_group_room(kGroupsRoot, groups_of_process()), room_within_limits()});
}

void MemoryBudget::check(std::size_t bytes) const {
  if (bytes <= limit_ - taken_) return;
  fail(ErrorCode::kUnsupported,
       "it needs {}, but of the model's limit of {} only {} are left; raise it with --max-model-memory SIZE",
       readable_bytes(bytes), readable_bytes(limit_), readable_bytes(limit_ - taken_));
}

}  // namespace saccade
