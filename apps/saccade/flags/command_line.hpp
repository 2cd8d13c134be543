#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace saccade::app {

/// The parser of the whole command line: every command with its flags, from their table.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What ARGUMENTS, without the program's name, ask for; the function returns an exit code. Throws UsageError. Call it
  /// once.
  std::function<int()> parse(const std::vector<std::string>& arguments);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::app
