#include "base/memory_budget.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "base/error.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// "1.5 GiB"
std::string readable(std::size_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

/// The number in a group's file; no limit where it holds the word "max" or does not exist.
std::size_t limit_in(const fs::path& file) {
  std::ifstream stream(file);
  std::size_t limit = 0;
  return stream >> limit ? limit : kUnlimited;
}

/// The least limit of FOLDER and the folders between it and ROOT, in files named NAME.
std::size_t least_limit(const fs::path& root, const fs::path& group, const char* name) {
  std::size_t least = limit_in(root / name);
  fs::path folder = root;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    least = std::min(least, limit_in(folder / name));
  }
  return least;
}

std::string read_whole(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t memory_of_process() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const std::size_t machine =
      pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : kUnlimited;
  return std::min(machine, control_group_limit("/sys/fs/cgroup", read_whole("/proc/self/cgroup")));
}

}  // namespace

std::size_t control_group_limit(const fs::path& root, std::string_view groups) {
  std::size_t least = kUnlimited;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    // NUMBER:CONTROLLERS:PATH; version 2 has number 0 and names no controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const fs::path group(line.substr(second + 1));
    if (controllers.empty()) least = std::min(least, least_limit(root, group, "memory.max"));
    if (fmt::format(",{},", controllers).find(",memory,") != std::string::npos)
      least = std::min(least, least_limit(root / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::size_t default_memory_limit() {
  static const std::size_t limit = memory_of_process() / 4 * 3;
  return limit;
}

void MemoryBudget::check(std::size_t bytes) const {
  if (bytes <= limit_ - taken_) return;
  fail(ErrorCode::kUnsupported,
       "it takes {}, but of the {} that the model may take {} are left; allow more with --max-model-memory SIZE",
       readable(bytes), readable(limit_), readable(limit_ - taken_));
}

}  // namespace saccade
