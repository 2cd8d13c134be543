#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/temp_folder.hpp"

extern char** environ;

namespace saccade::test {

/// A program's exit status and output.
struct Finished {
  int exit_code = -1;  ///< 128 + the signal that ended it
  std::string out;
  std::string err;
};

/// A running program whose output goes to files.
class Subprocess {
 public:
  /// ARGUMENTS[0] is the program's path.
  explicit Subprocess(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, (folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder_ / "err").c_str(), O_WRONLY | O_CREAT, 0600);
    if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
  }

  pid_t pid() const { return pid_; }
  std::string err_so_far() const { return bytes_of_file(folder_ / "err"); }
  std::string out_so_far() const { return bytes_of_file(folder_ / "out"); }

  Finished wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, bytes_of_file(folder_ / "out"), bytes_of_file(folder_ / "err")};
  }

 private:
  TempFolder folder_;
  pid_t pid_ = -1;
};

/// Runs the built saccade to its end: on the CPU, also where there is a GPU, unless ARGUMENTS name a device. Without
/// SACCADE_CACHE it keeps nothing: otherwise it would say what earlier tests, or the user's own runs, have decided.
inline Finished run_saccade(std::vector<std::string> arguments) {
  setenv("SACCADE_CACHE", "", 0);
  const bool takes_device = !arguments.empty() && !arguments[0].starts_with("-") && arguments[0] != "generate";
  if (takes_device && std::ranges::find(arguments, "--device") == arguments.end())
    arguments.insert(arguments.begin() + 1, {"--device", "cpu"});
  arguments.insert(arguments.begin(), SACCADE_BINARY);
  return Subprocess(arguments).wait();
}

}  // namespace saccade::test
