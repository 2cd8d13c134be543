#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace saccade {

/// Makes FOLDER and those above it where they are missing. Throws Error (kIo) saying why it can't.
void make_folder(const std::string& folder);

/// A name that a file gets once it is worth having. Until then the file lies beside it under a temporary name, created
/// with O_EXCL, so that what lies there today is never emptied, and stays where the new file is given up. A symbolic
/// link is followed. A device, FIFO or socket has no temporary name: it is written as it is. Move-only.
class OutputPath {
 public:
  /// Whether the path is recorded as one that nothing else may write (base/file_registry.hpp), or only kept off inputs.
  enum class Claim { kRecorded, kChecked };

  /// Creates the temporary file, with the mode of the file that it is to replace. Throws Error (kConflict) where the
  /// path is read or written by something else, (kIo) where nothing can be written there.
  explicit OutputPath(const std::string& path, Claim claim = Claim::kRecorded);
  OutputPath(OutputPath&& other) noexcept;
  OutputPath& operator=(OutputPath&&) = delete;
  /// Removes the temporary file where commit() was not called.
  ~OutputPath();

  /// What is to be opened for writing.
  const std::string& temporary() const { return temporary_; }
  /// Whether there is no file to be replaced, but a device, FIFO or socket to write to.
  bool is_stream() const { return is_stream_; }
  /// Gives the file its name; what had it is replaced. Once; later calls do nothing. Throws Error (kIo).
  void commit();

 private:
  std::string path_;       ///< as given, for messages
  std::string target_;     ///< the path behind symbolic links
  std::string temporary_;  ///< empty: moved from
  bool is_stream_ = false;
  bool is_committed_ = false;
};

/// A file being written, or standard output. A FIFO is opened at the first write, which waits for a reader. Where a
/// write to a file that grows fails, the file ends where the last flush() ended. Move-only.
class OutputFile {
 public:
  /// When the file gets its name (OutputPath): at close(), so that it is whole or not there, or at the first flush(),
  /// for what is read while it grows.
  enum class Appears { kWhole, kAtOnce };

  /// "-" is standard output. Throws Error (kIo, kConflict) saying why it can't be written.
  explicit OutputFile(const std::string& path, Appears appears = Appears::kWhole,
                      OutputPath::Claim claim = OutputPath::Claim::kRecorded);

  /// Throws Error (kIo).
  void write(std::string_view text);
  /// Hands what is buffered to the system. Throws Error (kIo).
  void flush();
  /// Flushes with TEXT as the file's end for now, which the next write() replaces: what grows is whole at any time. Of
  /// what can't be sought in, as pipes, flushes alone. Throws Error (kIo).
  void write_end(std::string_view text);
  /// Flushes and closes. Throws Error (kIo) where the system could not keep everything.
  void close();

  bool is_standard_output() const { return path_ == "-"; }
  /// Whether it has no beginning to go back to: standard output, a device, a FIFO.
  bool is_stream() const { return place_ == nullptr || place_->is_stream(); }
  /// For libraries that write to C streams. Throws Error (kIo).
  std::FILE* stream() {
    open();
    return file_.get();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept {
      if (file != stdout) std::fclose(file);
    }
  };
  [[noreturn]] void fail_now();
  void open();

  std::string path_;
  Appears appears_;
  std::unique_ptr<OutputPath> place_;       ///< null: standard output
  std::unique_ptr<std::FILE, Close> file_;  ///< null: not open yet
  long flushed_ = 0;                        ///< bytes up to the last flush(), of a file that grows
  std::string end_;                         ///< that of the last write_end(), which follows them
};

}  // namespace saccade
