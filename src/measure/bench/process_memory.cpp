#include "measure/bench/process_memory.hpp"

#include <fstream>
#include <string>

namespace saccade {

bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5\n" << std::flush;
  return file.good();
}

std::int64_t peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
  return 0;
}

}  // namespace saccade
