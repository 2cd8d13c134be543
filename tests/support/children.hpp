#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <filesystem>

namespace saccade::test {

/// The living children of PROCESS, sorted.
inline std::vector<pid_t> children(pid_t process = getpid()) {
  std::vector<pid_t> found;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) found.push_back(child);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace saccade::test
