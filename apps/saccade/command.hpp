#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace saccade::app {

/// Exit codes.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kVerdict = 3;

/// Adds a command's flags to its parser. Returns the function to run after parsing, which returns an exit code.
using Command = std::function<std::function<int()>(CLI::App&)>;

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

/// Parses the command line and runs its command. Errors are one line on standard error.
int run_command(int argc, char** argv);

}  // namespace saccade::app
