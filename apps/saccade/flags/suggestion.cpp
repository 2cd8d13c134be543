#include "flags/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "flags/foreign_words.hpp"

namespace saccade::app {
namespace {

/// The number of characters to insert, delete, replace or swap with the next one between A and B.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j] + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) next[j + 1] = std::min(next[j + 1], above[j - 1] + 1);
    }
    above.swap(row);
    row.swap(next);
  }
  return row.back();
}

/// " (did you mean 'NAME'?)" for the nearest of NAMES; empty if none is near.
std::string nearest_of(const std::string& given, const std::vector<std::string_view>& names) {
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

std::string unknown_command(const std::string& word) {
  if (const std::string_view remedy = remedy_for_command(word); !remedy.empty())
    return fmt::format("unknown command '{}': {}", word, remedy);
  if (word.find_first_of("./") != std::string::npos)
    return fmt::format("unknown command '{}': a command comes first, as in saccade run MODEL --source SRC", word);
  std::vector<std::string_view> names;
  for (const CommandRow& row : all_commands()) names.push_back(row.name);
  return fmt::format("unknown command '{}'{}", word, nearest_of(word, names));
}

/// A flag without a command before it.
std::string leading_flag(const std::string& flag) {
  const std::string nearest = nearest_of(flag, {"--help", "--version", "--color"});
  return fmt::format("unknown flag '{}'{}", flag, nearest.empty() ? ": a command comes first" : nearest);
}

}  // namespace

std::string unknown_argument(const std::string& argument, const CommandRow* command) {
  if (!argument.starts_with("-"))
    return command == nullptr ? unknown_command(argument) : fmt::format("unknown argument '{}'", argument);
  if (command == nullptr) return leading_flag(argument);
  const std::string flag = argument.substr(0, argument.find('='));
  if (!flag.starts_with("--") && flag.find('.') != std::string::npos)
    return fmt::format("unknown flag '{}': write a file of this name as ./{}", argument, argument);
  if (const std::string_view remedy = remedy_for_flag(flag, *command); !remedy.empty())
    return fmt::format("unknown flag '{}': {}", argument, remedy);
  std::vector<std::string_view> names;
  for (const Flag* row : flags_of(command->bit))
    if (!row->is_positional()) names.push_back(row->long_name());
  return fmt::format("unknown flag '{}'{}", argument, nearest_of(flag, names));
}

}  // namespace saccade::app
