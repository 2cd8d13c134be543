#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace saccade {

/// Makes FOLDER and those above it where they are missing. Throws Error (kIo) saying why it can't.
void make_folder(const std::string& folder);

/// A file being written, or standard output. Move-only.
class OutputFile {
 public:
  /// Creates or empties the file; "-" is standard output. Throws Error (kIo) saying why it can't be written.
  explicit OutputFile(const std::string& path);

  /// Throws Error (kIo).
  void write(std::string_view text);
  /// Hands what is buffered to the system. Throws Error (kIo).
  void flush();
  /// Flushes and closes. Throws Error (kIo) where the system could not keep everything.
  void close();

  bool is_standard_output() const { return path_ == "-"; }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept {
      if (file != stdout) std::fclose(file);
    }
  };
  [[noreturn]] void fail_now() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace saccade
