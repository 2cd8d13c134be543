#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace saccade::app {

/// What the shell learns.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kVerdict = 3;

/// Adds a verb's flags to its parser and returns what to do once they are parsed; that returns an exit code.
using Verb = std::function<std::function<int()>(CLI::App&)>;

std::function<int()> add_run(CLI::App& app);
std::function<int()> add_infer(CLI::App& app);
std::function<int()> add_compile(CLI::App& app);
std::function<int()> add_inspect(CLI::App& app);
std::function<int()> add_profile(CLI::App& app);
std::function<int()> add_bench(CLI::App& app);
std::function<int()> add_check(CLI::App& app);
std::function<int()> add_demo(CLI::App& app);
std::function<int()> add_limits(CLI::App& app);
std::function<int()> add_validate(CLI::App& app);

/// Parses the command line and runs its verb. Prints one line on standard error where something is wrong.
int run_command(int argc, char** argv);

}  // namespace saccade::app
