#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <saccade/error.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace saccade::app {

struct CommandRow;
struct Flag;

/// The command line is invalid.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
  UsageError(std::string_view flag, const std::string& message)
      : std::runtime_error(std::string(flag) + ": " + message) {}
};

/// Where a flag's value goes: a variable, or a function that reads it. A function's Error becomes a UsageError.
using Parse = std::function<void(const std::string&)>;
using ParseAll = std::function<void(const std::vector<std::string>&)>;
using Field = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, float*, double*, std::string*,
                           std::vector<std::string>*, std::optional<float>*, std::optional<bool>*, Parse, ParseAll>;

/// Declares the options of one command from its rows in the table, each with the field that it sets.
class FlagBinder {
 public:
  FlagBinder(CLI::App& app, const CommandRow& command);

  /// NAME is the row's long name. Its default, if it has one, is stored in FIELD. Throws std::logic_error if the
  /// command has no such row, or FIELD holds another default.
  void bind(std::string_view name, Field field);
  /// A choice of names, each of which stands for a value.
  template <typename T>
  void bind_choice(std::string_view name, T& field, std::vector<std::pair<std::string, T>> values);
  /// Call it last. Throws std::logic_error if a row has not been bound.
  void finish();

 private:
  void check_names(std::string_view name, const std::vector<std::string>& names) const;
  const Flag& row(std::string_view name) const;

  CLI::App& app_;
  const CommandRow& command_;
  std::set<std::string, std::less<>> bound_;
};

template <typename T>
void FlagBinder::bind_choice(std::string_view name, T& field, std::vector<std::pair<std::string, T>> values) {
  std::vector<std::string> names;
  for (const auto& [value_name, value] : values) names.push_back(value_name);
  check_names(name, names);
  bind(name, Parse([&field, values = std::move(values)](const std::string& chosen) {
         for (const auto& [value_name, value] : values)
           if (value_name == chosen) field = value;
       }));
}

/// What a command does after parsing: check its flags together, then run and return an exit code. The check opens
/// nothing: what it throws, UsageError or Error, is a usage error.
struct Action {
  std::function<int()> run;
  std::function<void()> check = {};
};

}  // namespace saccade::app
