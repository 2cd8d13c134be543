#include "measure/bench/process_memory.hpp"

#include <fstream>
#include <string>

namespace saccade {
namespace {

/// The number behind KEY in /proc/self/status; 0 if it is not there.
std::int64_t status_number(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::stoll(line.substr(key.size()));
  return 0;
}

}  // namespace

bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5\n" << std::flush;
  return file.good();
}

std::int64_t peak_memory() { return 1024 * status_number("VmHWM:"); }

ProcessSize process_size() {
  return {.resident_bytes = 1024 * status_number("VmRSS:"), .threads = status_number("Threads:")};
}

}  // namespace saccade
