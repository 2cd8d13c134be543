#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_folder.hpp"

namespace saccade::test {

/// A file system of control groups in a temporary folder.
class GroupFolder {
 public:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  std::string root() const { return folder_.string(); }

 private:
  TempFolder folder_;
};

}  // namespace saccade::test
