#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

/// A child process with line-based communication. Not movable; the destructor ends the program.
class ChildProcess {
 public:
  /// Starts ARGUMENTS[0] (a path, or a name to be found in PATH). Its standard input and output are connected to this
  /// object, its standard error goes to ERROR_FILE. Throws Error (kNotFound, kIo).
  ChildProcess(const std::vector<std::string>& arguments, std::string error_file);
  /// Kills the program if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Throws Error (kIo) if the program has ended.
  void write_line(std::string_view line);
  /// The next line, without its terminator. Throws Error (kIo) if the program ends or sends nothing within TIMEOUT; the
  /// message contains the last line of its standard error.
  std::string read_line(std::chrono::milliseconds timeout);

 private:
  [[noreturn]] void fail_as_ended();
  /// ": LINE", the last one of the error file; empty if there is none.
  std::string last_words() const;

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string error_file_;
  std::string received_;
};

}  // namespace saccade
