#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <saccade/error.hpp>
#include <saccade/files.hpp>
#include <saccade/log.hpp>
#include <saccade/version.hpp>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "exhaustion.hpp"
#include "interrupt.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct CommandRow {
  const char* name;
  const char* summary;
  std::function<int()> (*add)(CLI::App&);
};

constexpr std::array kCommands = {
    CommandRow{"run", "Run models on images, folders of images or videos", add_run},
    CommandRow{"infer", "Run a model on raw tensors, .npy files in and out", add_infer},
    CommandRow{"compile", "Tune a model for this device and write a plan, usable wherever a model is expected",
               add_compile},
    CommandRow{"inspect", "Show a model's graph, passes, plan and kernels", add_inspect},
    CommandRow{"check", "Run ONNX test folders and report what passed, failed or is not supported", add_check},
    CommandRow{"profile", "Profile every stage and launch of a model and report the bottleneck", add_profile},
    CommandRow{"bench", "Benchmark models, compare them with other engines, detect regressions", add_bench},
    CommandRow{"demo", "Run the bundled model on a synthetic scene and report its accuracy and speed", add_demo},
    CommandRow{"validate", "Compute COCO AP, top-1, mIoU or depth metrics on annotated images", add_validate},
    CommandRow{"limits", "Measure this machine's peak compute and bandwidth, and a model's roofline bounds",
               add_limits},
};

// Planned commands and flags: the message says so, so that the user does not look for a typo.
constexpr std::array<std::string_view, 4> kPlannedCommands = {"ladder", "calibrate", "cameras", "serve"};
constexpr std::array<std::string_view, 4> kPlannedFlags = {"--show", "--mqtt", "--track", "--goals"};

/// Prints MESSAGE as one line; untrusted names in it are escaped.
void print_error(std::string message) {
  constexpr std::size_t kLongest = 4000;
  if (message.size() > kLongest) message = message.substr(0, kLongest) + " ...";
  print_aside(fmt::format("saccade: error: {}\n", printable(message)));
}

std::string flag_of(const std::string& argument) { return argument.substr(0, argument.find('=')); }

/// The error for a command line with unparsed ARGUMENTS, or without a known command.
std::string unknown(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    for (std::string_view flag : kPlannedFlags)
      if (flag_of(argument) == flag) return fmt::format("{} is not implemented yet", flag);
    for (std::string_view command : kPlannedCommands)
      if (argument == command) return fmt::format("the command '{}' is not implemented yet", command);
  }
  const std::string& first = arguments.front();
  return fmt::format("unknown {} '{}'", first.starts_with("-") ? "flag" : "argument", first);
}

int usage_error(const std::string& message, const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  print_error(fmt::format("{}; see saccade {}--help", message, chosen.empty() ? "" : chosen.front()->get_name() + " "));
  return kUsage;
}

/// The message for exhausted resources; "bug in saccade" is for bugs only.
std::string told(const std::system_error& error) {
  if (error.code() == std::errc::resource_unavailable_try_again)
    return "no further thread can be started: out of memory, or the process limit is reached";
  return error.code().message();
}

int guarded(const std::function<int()>& action) {
  try {
    const int code = action();
    if (code == kOk && lost_messages()) throw Error(ErrorCode::kIo, "can't write messages to standard error");
    return code;
  } catch (const Error& error) {
    print_error(error.what());
    if (error.code() == ErrorCode::kConflict) return kUsage;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    print_error(told(error));
  } catch (const std::exception& error) {
    print_error(fmt::format("bug in saccade: {}; please report it", error.what()));
  }
  return kFailed;
}

/// The flag of `--flag=` or `--flag ''`: the parser would take the next argument as its value, or accept an empty name.
std::string flag_without_value(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool is_flag = argument.size() > 1 && argument.front() == '-';
    if (is_flag && argument.find('=') == argument.size() - 1)
      return std::string(argument.substr(0, argument.size() - 1));
    if (argument.empty()) return i > 1 && argv[i - 1][0] == '-' ? argv[i - 1] : fmt::format("argument {}", i);
  }
  return {};
}

/// Parses the command line. Returns an exit code if nothing is left to do.
std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& wanted) {  // --help, --version
    return guarded([&] {
      std::ostringstream text;
      const int code = app.exit(wanted, text, text);
      print_report(text.str());
      return code;
    });
  } catch (const CLI::ExtrasError&) {
    return usage_error(unknown(app.remaining(true)), app);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> rest = app.remaining(true);
    if (!rest.empty()) return usage_error(unknown(rest), app);
    return usage_error(error.what(), app);
  }
}

}  // namespace

int run_command(int argc, char** argv) {
  catch_signals();
  tell_exhaustion();
  keep_standard_streams();
  protect_files();
  CLI::App app("Saccade runs computer-vision ONNX models on video.", "saccade");
  app.set_version_flag("--version", std::string("saccade ") + version(), "Print the version");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  std::array<std::function<int()>, kCommands.size()> actions;
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    CLI::App* command = app.add_subcommand(kCommands[i].name, kCommands[i].summary);
    actions[i] = kCommands[i].add(*command);
  }
  if (argc < 2) {
    return guarded([&] {
      print_report(app.help());
      return kUsage;
    });
  }
  if (const std::string flag = flag_without_value(argc, argv); !flag.empty())
    return usage_error(flag + " needs a value", app);
  if (const auto code = parse(app, argc, argv)) return *code;
  for (std::size_t i = 0; i < kCommands.size(); ++i)
    if (app.got_subcommand(kCommands[i].name)) return guarded(actions[i]);
  return kUsage;
}

}  // namespace saccade::app
