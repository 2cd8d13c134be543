#include "flags/flag.hpp"

#include <fmt/format.h>

namespace saccade::app {

std::string Flag::metavar() const {
  if (!form.empty() || is_switch()) return std::string(form);
  return fmt::format("{}", fmt::join(std::get<Choice>(value).names, "|"));
}

std::vector<std::string> Flag::names() const {
  if (const auto* choice = std::get_if<Choice>(&value)) return choice->names;
  if (const auto* text = std::get_if<Text>(&value)) return text->names;
  return {};
}

std::vector<const Flag*> flags_of(Commands command) {
  std::vector<const Flag*> rows;
  for (const Flag& flag : all_flags())
    if ((flag.commands & command) != 0) rows.push_back(&flag);
  return rows;
}

}  // namespace saccade::app
