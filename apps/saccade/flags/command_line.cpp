#include "flags/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <saccade/version.hpp>

#include "command.hpp"
#include "flags/binder.hpp"
#include "flags/flag.hpp"
#include "flags/help.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

/// The number of characters to insert, delete or replace between A and B.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// " (did you mean 'NAME'?)" for the nearest of NAMES; empty if none is near.
std::string suggestion(const std::string& given, const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongest = 40;  // the distance of a long argument costs time and means nothing
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = given.size() > kLongest ? least : edit_distance(given, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
}

/// The error for an ARGUMENT that COMMAND's parser does not know; nullptr: the command itself is unknown.
std::string unknown(const std::string& argument, const CommandRow* command) {
  std::vector<std::string_view> names;
  if (!argument.starts_with("-")) {
    if (command != nullptr) return fmt::format("unknown argument '{}'", argument);
    for (const CommandRow& row : all_commands()) names.push_back(row.name);
    return fmt::format("unknown command '{}'{}", argument, suggestion(argument, names));
  }
  const std::string flag = argument.substr(0, argument.find('='));
  if (command != nullptr)
    for (const Flag* row : flags_of(command->bit))
      if (!row->is_positional()) names.push_back(row->long_name());
  return fmt::format("unknown flag '{}'{}", argument, suggestion(flag, names));
}

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

/// TEXT; of a missing positional argument of COMMAND, which a flag of several values may have taken, also the remedy.
std::string with_remedy(const CLI::App& app, const CommandRow& command, const std::string& text) {
  if (text.starts_with("-") || !text.ends_with(" is required")) return text;
  for (const Flag* flag : flags_of(command.bit))
    if (flag->traits.count == Count::kSeveral && app.get_option(std::string(flag->long_name()))->count() > 1)
      return fmt::format("{}: name it before {}, which takes several values", text, flag->long_name());
  return text;
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

std::function<int()> print(std::string text, int code = kOk) {
  return [text = std::move(text), code] {
    print_report(text);
    return code;
  };
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
  std::vector<Declared> commands;
};

std::string CommandLine::State::message(const CLI::ParseError& error) const {
  const Declared* command = chosen();
  if (const std::vector<std::string> rest = app.remaining(true); !rest.empty())
    return unknown(rest.front(), command == nullptr ? nullptr : command->row);
  const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
  if (command == nullptr) return "no command is given";
  return mismatch == nullptr ? with_remedy(*command->app, *command->row, error.what())
                             : miscounted(*command->app, *command->row, *mismatch);
}

CommandLine::CommandLine() : state_(std::make_unique<State>()) {
  state_->app.set_version_flag("--version", "");
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
  if (arguments.empty()) return print(help(), kUsage);
  const auto fail = [this](const std::string& message) -> UsageError {
    const State::Declared* command = state_->chosen();
    const std::string of = command == nullptr ? "" : std::string(command->row->name) + " ";
    return UsageError(fmt::format("{}; see saccade {}--help", message, of));
  };
  if (const std::string flag = flag_without_value(arguments); !flag.empty()) throw fail(flag + " needs a value");
  try {
    state_->app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 reads from the end
    const State::Declared& command = *state_->chosen();
    if (command.action.check) command.action.check();
    return command.action.run;
  } catch (const CLI::CallForVersion&) {
    return print(fmt::format("saccade {}\n", version()));
  } catch (const CLI::Success&) {
    return print(state_->chosen() == nullptr ? help() : help(*state_->chosen()->row));
  } catch (const CLI::ParseError& error) {
    throw fail(state_->message(error));
  } catch (const UsageError& error) {
    throw fail(error.what());
  }
}

}  // namespace saccade::app
