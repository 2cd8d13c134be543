#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace saccade {

/// A C stream being written.
class ImageFile {
 public:
  /// Throws Error (kIo) naming the file.
  explicit ImageFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) refuse();
  }

  std::FILE* get() const noexcept { return file_.get(); }

  /// Throws Error (kIo) where the last bytes can't be written.
  void close() {
    const bool good = std::ferror(file_.get()) == 0;
    if (std::fclose(file_.release()) != 0 || !good) refuse();
  }

 private:
  [[noreturn]] void refuse() const { fail(ErrorCode::kIo, "'{}' can't be written: {}", path_, std::strerror(errno)); }

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace saccade
