#include "measure/limits/cpu_caches.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace saccade {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "48K", "32M" in bytes; 0 if the text is malformed.
std::int64_t parse_size(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t size = 0;
  if (!(stream >> size) || size <= 0) return 0;
  char unit = 0;
  stream >> unit;
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : unit == 'G' ? size << 30 : size;
}

/// The number of CPUs in "0-3,8".
int count_cpus(const std::string& list) {
  int count = 0;
  std::istringstream stream(list);
  for (std::string range; std::getline(stream, range, ',');) {
    int first = 0;
    int last = 0;
    char dash = 0;
    std::istringstream ends(range);
    if (!(ends >> first)) return 1;
    count += ends >> dash >> last && last >= first ? last - first + 1 : 1;
  }
  return std::max(count, 1);
}

}  // namespace

std::vector<CpuCache> cpu_caches(const std::string& root) {
  const std::filesystem::path folder = root + "/sys/devices/system/cpu/cpu0/cache";
  std::vector<CpuCache> caches;
  for (int i = 0; i < 8; ++i) {
    const auto index = folder / ("index" + std::to_string(i));
    const std::string type = first_line(index / "type");
    const std::string level = first_line(index / "level");
    const std::int64_t bytes = parse_size(first_line(index / "size"));
    if ((type != "Data" && type != "Unified") || level.empty() || bytes == 0) continue;
    caches.push_back(
        {"L" + level + (type == "Data" ? "d" : ""), bytes, count_cpus(first_line(index / "shared_cpu_list"))});
  }
  std::ranges::sort(caches, {}, &CpuCache::name);
  if (caches.empty()) caches = {{"L1d", 32 << 10, 1}, {"L2", 1 << 20, 1}, {"L3", 8 << 20, 1 << 16}};
  return caches;
}

}  // namespace saccade
