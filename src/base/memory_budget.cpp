#include "base/memory_budget.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "base/control_groups.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

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

const GroupFiles& files_of(GroupVersion version) {
  return version == GroupVersion::kFirst ? kFirstVersion : kSecondVersion;
}

std::size_t memory_limit_of(const fs::path& folder, GroupVersion version) {
  return number_in_group(folder / files_of(version).limit);
}

std::size_t memory_room_of(const fs::path& folder, GroupVersion version) {
  const std::size_t limit = memory_limit_of(folder, version);
  std::size_t used = number_in_group(folder / files_of(version).used);
  if (limit == kNoLimit || used == kNoLimit) return limit;
  used -= std::min(used, number_behind(folder / "memory.stat", files_of(version).cached));
  return limit - std::min(limit, used);
}

std::size_t page_bytes() { return static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 1L)); }

std::size_t memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::size_t>(pages) * page_bytes() : kNoLimit;
}

/// What remains of the limit of RESOURCE. COLUMN: the number in /proc/self/statm that counts against it.
std::size_t room_within(int resource, int column) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kNoLimit;
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
  return least_of_groups(root, groups, "memory", memory_limit_of);
}

std::size_t control_group_room(const fs::path& root, std::string_view groups) {
  return least_of_groups(root, groups, "memory", memory_room_of);
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
  const std::string limit = readable_bytes(limit_);
  const std::string left = readable_bytes(limit_ - taken_);
  fail(ErrorCode::kUnsupported, "it needs {}, but {}; raise it with --max-model-memory SIZE", readable_bytes(bytes),
       taken_ == 0 ? "the model's limit is " + limit
                   : fmt::format("of the model's limit of {} only {} are left", limit, left));
}

}  // namespace saccade
