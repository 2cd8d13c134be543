#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace saccade {

/// Creates FOLDER and its missing parents. Throws Error (kIo) with the reason.
void make_folder(const std::string& folder);

/// Whether PATH is standard output ("-"), or a device, FIFO or socket, which is written directly. Throws Error (kIo) if
/// the system cannot tell.
bool is_stream_path(const std::string& path);

/// A file that gets its name once it is complete. Until then it lies beside the final path under a temporary name,
/// created with O_EXCL, so that an existing file is never truncated and stays if the new one is abandoned. Symbolic
/// links are followed. A device, FIFO or socket is written directly. Move-only.
class OutputPath {
 public:
  /// Whether the path is claimed (base/file_registry.hpp), or only checked against inputs.
  enum class Claim { kRecorded, kChecked };

  /// Creates the temporary file, with the mode of the file that it will replace. Throws Error: kConflict if the path is
  /// read or written otherwise, kIo if it cannot be written.
  explicit OutputPath(const std::string& path, Claim claim = Claim::kRecorded);
  OutputPath(OutputPath&& other) noexcept;
  OutputPath& operator=(OutputPath&&) = delete;
  /// Removes the temporary file unless commit() was called.
  ~OutputPath();

  /// The path to open for writing.
  const std::string& temporary() const { return temporary_; }
  /// Whether the path is a device, FIFO or socket rather than a file to be replaced.
  bool is_stream() const { return is_stream_; }
  /// Renames the file to its final name, replacing an existing one. Later calls do nothing. Throws Error (kIo).
  void commit();

 private:
  std::string path_;       ///< as given, for messages
  std::string target_;     ///< the path with symbolic links resolved
  std::string temporary_;  ///< empty: moved from
  bool is_stream_ = false;
  bool is_committed_ = false;
};

/// A file being written, or standard output. A FIFO is opened at the first write, which blocks until it has a reader.
/// If a write to a growing file fails, the file ends where the last flush() ended, and a later write() goes on there.
/// Move-only.
class OutputFile {
 public:
  /// When the file gets its name (OutputPath): at close(), so that it is complete or absent, or at the first flush(),
  /// for files that are read while they grow.
  enum class Appears { kWhole, kAtOnce };

  /// "-" is standard output. Throws Error (kIo, kConflict) with the reason.
  explicit OutputFile(const std::string& path, Appears appears = Appears::kWhole,
                      OutputPath::Claim claim = OutputPath::Claim::kRecorded);

  /// Throws Error (kIo).
  void write(std::string_view text);
  /// The first text of a file, without which the rest is worth nothing: a failure before the first flush() does not
  /// drop it. Throws Error (kIo).
  void write_header(std::string_view text);
  /// Passes buffered text to the system. Throws Error (kIo).
  void flush();
  /// Flushes with TEXT at the file's end. The next write() replaces TEXT, so that a growing file is always well-formed.
  /// On an unseekable stream it only flushes. Throws Error (kIo).
  void write_end(std::string_view text);
  /// Flushes and closes. Throws Error (kIo) if not everything could be stored.
  void close();

  bool is_standard_output() const { return path_ == "-"; }
  /// Whether it cannot be rewritten: standard output, a device, a FIFO.
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
  long flushed_ = 0;                        ///< of a growing file: its size at the last flush()
  std::string header_;                      ///< until the first flush()
  std::string end_;                         ///< the text of the last write_end(), which follows
};

}  // namespace saccade
