#include "flags/binder.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <type_traits>

#include "flags/flag.hpp"
#include "flags/values.hpp"

namespace saccade::app {
namespace {

[[noreturn]] void disagree(const CommandRow& command, std::string_view flag, std::string_view why) {
  throw std::logic_error(fmt::format("the table of flags and {} disagree on {}: {}", command.name, flag, why));
}

/// The flag's name and its aliases, as CLI11 takes them.
std::string declaration_of(const Flag& flag) {
  std::string text(flag.name);
  std::istringstream aliases{std::string(flag.traits.aliases)};
  for (std::string alias; aliases >> alias;) text += "," + alias;
  return text;
}

/// Calls PARSE. Its Error is one about FLAG.
template <typename Function, typename Arg>
void parsed(std::string_view flag, const Function& parse, const Arg& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    throw UsageError(flag, error.what());
  }
}

CLI::Option* add_switch(CLI::App& app, const Flag& flag, const Field& field) {
  const std::string name = declaration_of(flag);
  if (const auto* set = std::get_if<bool*>(&field)) return app.add_flag(name, **set);
  return app.add_flag_callback(name, [parse = std::get<Parse>(field)] { parse({}); });
}

CLI::Option* add_value(CLI::App& app, const Flag& flag, const Field& field) {
  const std::string name = declaration_of(flag);
  const std::string_view called = flag.long_name();
  return std::visit(
      [&](const auto& target) -> CLI::Option* {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, Parse>)
          return app.add_option_function<std::string>(
              name, [called, target](const std::string& text) { parsed(called, target, text); });
        else if constexpr (std::is_same_v<Target, ParseAll>)
          return app.add_option_function<std::vector<std::string>>(
              name, [called, target](const std::vector<std::string>& texts) { parsed(called, target, texts); });
        else
          return app.add_option(name, *target);
      },
      field);
}

void count(CLI::Option& option, Count count) {
  switch (count) {
    case Count::kOne:
    case Count::kArguments:
    case Count::kSeveral: return;
    case Count::kRepeatable: option.allow_extra_args(false); return;
    case Count::kList: option.delimiter(',')->allow_extra_args(false); return;
    case Count::kPair: option.expected(2); return;
  }
}

/// The value that FIELD has before parsing, as a flag's text; nullopt if it has no text form.
std::optional<std::string> text_of(const Field& field) {
  return std::visit(
      [](const auto& target) -> std::optional<std::string> {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_pointer_v<Target> &&
                      (std::is_arithmetic_v<std::remove_pointer_t<Target>> || std::is_same_v<Target, std::string*>)) {
          std::ostringstream text;
          text << *target;
          return text.str();
        }
        return std::nullopt;
      },
      field);
}

}  // namespace

FlagBinder::FlagBinder(CLI::App& app, const CommandRow& command) : app_(app), command_(command) {}

const Flag& FlagBinder::row(std::string_view name) const {
  for (const Flag* flag : flags_of(command_.bit))
    if (flag->long_name() == name) return *flag;
  disagree(command_, name, "there is no such row");
}

void FlagBinder::check_names(std::string_view name, const std::vector<std::string>& names) const {
  if (row(name).names() != names) disagree(command_, name, "other choices");
}

void FlagBinder::bind(std::string_view name, Field field) {
  const Flag& flag = row(name);
  if (!bound_.emplace(name).second) disagree(command_, name, "it is bound twice");
  CLI::Option* option = flag.is_switch() ? add_switch(app_, flag, field) : add_value(app_, flag, field);
  if (!flag.is_switch()) option->transform(validator_of(flag));
  if (flag.traits.required && flag.traits.instead.empty()) option->required();
  count(*option, flag.traits.count);
  if (flag.traits.initial.empty()) return;
  const std::string initial(flag.traits.initial);
  if (const auto before = text_of(field); before && *before != initial)
    disagree(command_, name, fmt::format("the default is {}", *before));
  option->run_callback_for_default()->default_val(initial);
}

void FlagBinder::finish() {
  const auto option = [this](std::string_view name) { return app_.get_option(std::string(name)); };
  for (const Flag* flag : flags_of(command_.bit)) {
    if (!bound_.contains(flag->long_name())) disagree(command_, flag->long_name(), "it is not bound");
    if (!flag->traits.needs.empty() && flag->traits.or_needs.empty())
      option(flag->long_name())->needs(option(flag->traits.needs));
    std::istringstream others{std::string(flag->traits.excludes)};
    for (std::string other; others >> other;) option(flag->long_name())->excludes(option(other));
  }
}

}  // namespace saccade::app
