#pragma once

namespace saccade::app {

struct Action;
class FlagBinder;

/// Exit codes.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kVerdict = 3;

/// Bind a command's flags to the fields that it reads. They return what to do after parsing.
Action add_run(FlagBinder& binder);
Action add_infer(FlagBinder& binder);
Action add_compile(FlagBinder& binder);
Action add_inspect(FlagBinder& binder);
Action add_check(FlagBinder& binder);
Action add_profile(FlagBinder& binder);
Action add_bench(FlagBinder& binder);
Action add_demo(FlagBinder& binder);
Action add_validate(FlagBinder& binder);
Action add_recognise(FlagBinder& binder);
Action add_limits(FlagBinder& binder);
Action add_cameras(FlagBinder& binder);
Action add_serve(FlagBinder& binder);
Action add_generate(FlagBinder& binder);

/// Parses the command line and runs its command. Errors are one line on standard error.
int run_command(int argc, char** argv);

}  // namespace saccade::app
