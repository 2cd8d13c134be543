#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace saccade {

/// Random access to a file's bytes through a buffered window.
class FileWindow {
 public:
  /// A file that cannot be read has a size of 0.
  explicit FileWindow(const std::string& path);
  ~FileWindow();
  FileWindow(const FileWindow&) = delete;
  FileWindow& operator=(const FileWindow&) = delete;

  std::int64_t size() const { return size_; }
  /// COUNT bytes, at most 4096, at OFFSET; fewer at the end of the file. Valid until the next call.
  std::string_view at(std::int64_t offset, std::size_t count);
  /// The big-endian (little-endian) number in COUNT bytes, at most 8, at OFFSET; bytes beyond the end are 0.
  std::uint64_t big(std::int64_t offset, int count);
  std::uint64_t little(std::int64_t offset, int count);

 private:
  int file_ = -1;
  std::int64_t size_ = 0;
  std::int64_t start_ = 0;
  std::size_t filled_ = 0;
  std::array<char, 8192> bytes_{};
};

}  // namespace saccade
