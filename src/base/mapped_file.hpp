#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace saccade {

/// A file mapped into memory, read-only. Pages are read when they are touched. The file must be replaced (renamed
/// over), not written in place, while it is mapped: a truncated file ends the process with SIGBUS where it is read.
class MappedFile {
 public:
  /// Checks PATH as open_input() does. Throws Error naming PATH (kNotFound, kInvalidFile, kIo, kConflict).
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(memory_), size_}; }
  /// Takes the pages out of the process's resident memory; they are mapped again when they are touched. Any thread.
  void release_pages() const;

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace saccade
