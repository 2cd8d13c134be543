#include "flags/command_line.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <saccade/version.hpp>
#include <span>

#include "command.hpp"
#include "flags/binder.hpp"
#include "flags/flag.hpp"
#include "flags/help.hpp"
#include "flags/suggestion.hpp"
#include "report.hpp"
#include "terminal_style.hpp"

namespace saccade::app {
namespace {

/// The error for flags of COMMAND with too few or too many values; CLI11 counts them only.
std::string miscounted(const CLI::App& app, const CommandRow& command, const CLI::ArgumentMismatch& error) {
  const std::string_view text = error.what();
  for (const Flag* flag : flags_of(command.bit)) {
    const std::string name(flag->long_name());
    if (!text.starts_with(name + ":")) continue;
    const std::size_t most = flag->traits.count == Count::kPair ? 2 : 1;
    if (app.get_option(name)->count() > most) return fmt::format("{} is given twice", name);
    return fmt::format("{} needs {}", name, most == 2 ? "two values" : "a value");
  }
  return error.what();
}

/// The switch of COMMAND that was given a value, as in --dump=x; empty if the ERROR is another.
std::string switch_with_value(const CommandRow& command, const CLI::ParseError& error) {
  const std::string_view text = error.what();
  for (const Flag* flag : flags_of(command.bit))
    if (flag->is_switch() && text.find(fmt::format(" {} = ", flag->long_name())) != std::string_view::npos)
      return std::string(flag->long_name());
  return {};
}

/// The remedy for a missing --source, whose value may have been taken as one more MODEL.
std::string source_remedy(const CLI::App& app) {
  const std::vector<std::string> models = app.get_option("MODEL")->results();
  if (models.size() < 2 || models.back().ends_with(".onnx")) return {};
  return fmt::format(": write it before '{}' unless that is a model", models.back());
}

/// TEXT; of a missing positional argument of COMMAND, which a flag of several values may have taken, also the remedy.
std::string with_remedy(const CLI::App& app, const CommandRow& command, const std::string& text) {
  if (text == "--source is required") return text + source_remedy(app);
  if (text.starts_with("-") || !text.ends_with(" is required")) return text;
  for (const Flag* flag : flags_of(command.bit))
    if (flag->traits.count == Count::kSeveral && app.get_option(std::string(flag->long_name()))->count() > 1)
      return fmt::format("{}: name it before {}, which takes several values", text, flag->long_name());
  return text;
}

/// Throws UsageError unless APP was given the flags of COMMAND that are required or that others need, or what may be
/// given instead.
void check_alternatives(const CLI::App& app, const CommandRow& command) {
  const auto is_given = [&](std::string_view name) { return app.get_option(std::string(name))->count() > 0; };
  for (const Flag* flag : flags_of(command.bit)) {
    const Traits& traits = flag->traits;
    if (traits.required && !traits.instead.empty() && !is_given(flag->long_name()) && !is_given(traits.instead))
      throw UsageError(with_remedy(app, command, fmt::format("{} is required", flag->long_name())));
    if (!traits.or_needs.empty() && is_given(flag->long_name()) && !is_given(traits.needs) &&
        !is_given(traits.or_needs))
      throw UsageError(fmt::format("{} requires {} or {}", flag->long_name(), traits.needs, traits.or_needs));
  }
}

/// The flag of `--flag=` or `--flag ''`: the parser would take the next argument as its value, or accept an empty name.
std::string flag_without_value(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool is_flag = argument.size() > 1 && argument.front() == '-';
    if (is_flag && argument.find('=') == argument.size() - 1) return argument.substr(0, argument.size() - 1);
    if (argument.empty())
      return i > 0 && arguments[i - 1].starts_with("-") ? arguments[i - 1] : fmt::format("argument {}", i + 1);
  }
  return {};
}

/// The command that ARGUMENTS name; null if they name none.
const CommandRow* command_of(std::span<const std::string> arguments) {
  for (const std::string& argument : arguments)
    if (const auto found = std::ranges::find(all_commands(), argument, &CommandRow::name);
        found != all_commands().end())
      return &*found;
  return nullptr;
}

/// "--track needs a value: '--no-save' is a flag", where the parser would take a flag as the value of the one before
/// it; empty if there is none. A value that begins so is written as --flag=VALUE.
std::string flag_as_value(const CommandRow& command, std::span<const std::string> arguments) {
  const auto is_named = [](const Flag& flag, const std::string& argument) {
    const std::string names = fmt::format(",{},{},", flag.name, flag.traits.aliases);
    return argument.starts_with("-") && names.find("," + argument + ",") != std::string::npos;
  };
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
    for (const Flag* flag : flags_of(command.bit)) {
      if (flag->is_switch() || !is_named(*flag, arguments[i])) continue;
      const std::size_t count = flag->traits.count == Count::kPair ? 2 : 1;
      for (const std::string& value : arguments.subspan(i + 1).first(std::min(count, arguments.size() - i - 1)))
        if (value.starts_with("--"))
          return fmt::format("{} needs {}: '{}' is a flag", flag->long_name(), count == 2 ? "two values" : "a value",
                             value);
    }
  return {};
}

std::function<int()> print(std::string text, int code = kOk) {
  return [text = std::move(text), code] {
    print_trusted(text);
    return code;
  };
}

TerminalStyle help_style() { return {is_colored(STDOUT_FILENO)}; }

/// ARGUMENTS after a leading --color, which choose_color() has read.
std::span<const std::string> without_color(std::span<const std::string> arguments) {
  if (arguments.front() == "--color") return arguments.subspan(std::min<std::size_t>(2, arguments.size()));
  return arguments.subspan(arguments.front().starts_with("--color=") ? 1 : 0);
}

/// What `saccade help WORD` prints. Throws UsageError.
std::string help_of(std::span<const std::string> words) {
  const auto refused = [](const std::string& what) { return UsageError(what + "; see saccade --help"); };
  if (words.empty()) return help(help_style());
  if (words.size() > 1) throw refused(fmt::format("unknown argument '{}'", words[1]));
  const auto found = std::ranges::find(all_commands(), words[0], &CommandRow::name);
  if (found == all_commands().end()) throw refused(unknown_argument(words[0], nullptr));
  return help(*found, help_style());
}

}  // namespace

struct CommandLine::State {
  struct Declared {
    const CommandRow* row;
    CLI::App* app;
    Action action;
  };

  /// The command that was named; nullptr if none was.
  const Declared* chosen() const {
    const auto found = std::ranges::find_if(commands, [](const Declared& command) { return command.app->parsed(); });
    return found == commands.end() ? nullptr : &*found;
  }
  std::string message(const CLI::ParseError& error) const;

  CLI::App app{"", "saccade"};
  std::string color;  ///< read by choose_color()
  std::vector<Declared> commands;
};

std::string CommandLine::State::message(const CLI::ParseError& error) const {
  const Declared* command = chosen();
  if (const std::vector<std::string> rest = app.remaining(true); !rest.empty())
    return unknown_argument(rest.front(), command == nullptr ? nullptr : command->row);
  if (command == nullptr) return "no command is given";
  if (const std::string flag = switch_with_value(*command->row, error); !flag.empty())
    return fmt::format("{} takes no value", flag);
  const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
  return mismatch == nullptr ? with_remedy(*command->app, *command->row, error.what())
                             : miscounted(*command->app, *command->row, *mismatch);
}

CommandLine::CommandLine() : state_(std::make_unique<State>()) {
  state_->app.set_version_flag("-V,--version", "");
  state_->app.add_option("--color", state_->color);
  state_->app.require_subcommand(1);
  for (const CommandRow& row : all_commands()) {
    CLI::App* app = state_->app.add_subcommand(std::string(row.name));
    FlagBinder binder(*app, row);
    Action action = row.add(binder);
    binder.finish();
    state_->commands.push_back({&row, app, std::move(action)});
  }
}

CommandLine::~CommandLine() = default;

std::function<int()> CommandLine::parse(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return print(help(help_style()), kUsage);
  const std::span<const std::string> words = without_color(arguments);
  if (!words.empty() && words.front() == "help") return print(help_of(words.subspan(1)));
  const auto fail = [this](const std::string& message) -> UsageError {
    const State::Declared* command = state_->chosen();
    const std::string of = command == nullptr ? "" : std::string(command->row->name) + " ";
    return UsageError(fmt::format("{}; see saccade {}--help", message, of));
  };
  if (const std::string flag = flag_without_value(arguments); !flag.empty()) throw fail(flag + " needs a value");
  if (const CommandRow* command = command_of(words))
    if (const std::string fault = flag_as_value(*command, words); !fault.empty())
      throw UsageError(fmt::format("{}; see saccade {} --help", fault, command->name));
  try {
    state_->app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 reads from the end
    const State::Declared& command = *state_->chosen();
    check_alternatives(*command.app, *command.row);
    if (command.action.check) command.action.check();
    return command.action.run;
  } catch (const CLI::CallForVersion&) {
    return print(fmt::format("saccade {}\n", version()));
  } catch (const CLI::Success&) {
    return print(state_->chosen() == nullptr ? help(help_style()) : help(*state_->chosen()->row, help_style()));
  } catch (const CLI::ParseError& error) {
    throw fail(state_->message(error));
  } catch (const UsageError& error) {
    throw fail(error.what());
  } catch (const Error& error) {
    throw fail(error.what());
  }
}

}  // namespace saccade::app
