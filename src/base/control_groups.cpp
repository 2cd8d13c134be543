#include "base/control_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// The least limit over the folder GROUP and its parents up to ROOT.
std::size_t least_to_root(const fs::path& root, const fs::path& group, GroupVersion version,
                          const LimitOfGroup& limit_of) {
  std::size_t least = limit_of(root, version);
  fs::path folder = root;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    least = std::min(least, limit_of(folder, version));
  }
  return least;
}

}  // namespace

std::size_t least_of_groups(const fs::path& root, std::string_view groups, std::string_view controller,
                            const LimitOfGroup& limit_of) {
  std::size_t least = kNoLimit;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    // NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const fs::path group(line.substr(second + 1));
    if (controllers.empty()) least = std::min(least, least_to_root(root, group, GroupVersion::kSecond, limit_of));
    if (fmt::format(",{},", controllers).find(fmt::format(",{},", controller)) != std::string::npos)
      least = std::min(least, least_to_root(root / controller, group, GroupVersion::kFirst, limit_of));
  }
  return least;
}

std::size_t number_in_group(const fs::path& file) {
  std::ifstream stream(file);
  std::size_t number = 0;
  return stream >> number ? number : kNoLimit;
}

const std::string& groups_of_process() {
  static const std::string groups = [] {
    std::ifstream file("/proc/self/cgroup");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return groups;
}

}  // namespace saccade
