#include "flags/help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace saccade::app {
namespace {

constexpr std::size_t kColumn = 26;  // of the descriptions
constexpr std::size_t kWidth = 80;

/// Words of TEXT in lines that begin at COLUMN; the first line has USED characters already.
std::string in_column(std::string_view text, std::size_t used, std::size_t column) {
  std::string lines(used < column ? column - used : 0, ' ');
  if (used >= column && column > 0) lines = "\n" + std::string(column, ' ');
  std::size_t at = column;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const bool is_first = at == column;
    if (!is_first && at + 1 + word.size() > kWidth) {
      lines += "\n" + std::string(column, ' ');
      at = column;
    } else if (!is_first) {
      lines += ' ';
      ++at;
    }
    lines += word;
    at += word.size();
    begin = end + 1;
  }
  return lines + "\n";
}

std::string row(const TerminalStyle& style, const std::string& left, std::string_view right) {
  // Two spaces separate the columns, for the eye and for scripts.
  const std::size_t used = left.size() + 2 > kColumn ? kColumn : left.size();
  return style.name(left) + in_column(right, used, kColumn);
}

/// TEXT as a paragraph.
std::string paragraph(std::string_view text) { return in_column(text, 0, 0); }

std::string left_of(const Flag& flag) {
  const std::string form = flag.is_positional() ? "" : flag.metavar();
  return fmt::format("  {}{}{}", flag.name, form.empty() ? "" : " ", form);
}

std::string argument_of(const Flag& flag) {
  const std::string many = flag.traits.count == Count::kArguments ? "..." : "";
  const std::string argument = std::string(flag.name) + many;
  return flag.traits.required ? argument : "[" + argument + "]";
}

constexpr std::string_view kHelpFlag = "  -h,--help";

}  // namespace

std::vector<FlagGroup> groups_of(const std::vector<const Flag*>& flags) {
  std::vector<FlagGroup> groups = {{"Options", {}}};
  for (const Flag* flag : flags) {
    if (flag->is_positional()) continue;
    const std::string_view heading = flag->traits.group.empty() ? "Options" : flag->traits.group;
    auto found = std::ranges::find(groups, heading, &FlagGroup::heading);
    if (found == groups.end()) found = groups.insert(groups.end(), {heading, {}});
    found->flags.push_back(flag);
  }
  return groups;
}

std::string description_of(const Flag& flag) {
  std::vector<std::string> notes;
  const Traits& traits = flag.traits;
  if (traits.required)
    notes.push_back(traits.instead.empty() ? "required" : fmt::format("required without {}", traits.instead));
  if (traits.count == Count::kRepeatable || traits.count == Count::kSeveral) notes.emplace_back("repeatable");
  constexpr std::size_t kListed = 12;  // the error about another name lists more
  if (const auto* choice = std::get_if<Choice>(&flag.value);
      choice != nullptr && !flag.form.empty() && choice->names.size() <= kListed)
    notes.push_back(fmt::format("{}", fmt::join(choice->names, ", ")));
  if (!traits.needs.empty() && flag.doc.find(traits.needs) == std::string_view::npos)
    notes.push_back(traits.or_needs.empty() ? fmt::format("needs {}", traits.needs)
                                            : fmt::format("needs {} or {}", traits.needs, traits.or_needs));
  if (!traits.initial.empty()) notes.push_back(fmt::format("default: {}", traits.initial));
  if (!traits.otherwise.empty()) notes.push_back(fmt::format("default: {}", traits.otherwise));
  if (notes.empty()) return std::string(flag.doc);
  return fmt::format("{} ({})", flag.doc, fmt::join(notes, "; "));
}

std::string usage_of(const CommandRow& command) {
  std::string usage = fmt::format("saccade {}", command.name);
  bool has_options = false;
  for (const Flag* flag : flags_of(command.bit)) {
    has_options = has_options || (!flag->is_positional() && !flag->traits.required);
    if (flag->is_positional()) usage += " " + argument_of(*flag);
  }
  for (const Flag* flag : flags_of(command.bit))
    if (!flag->is_positional() && flag->traits.required)
      usage += fmt::format(" {} {}", flag->long_name(), flag->metavar());
  return has_options ? usage + " [OPTIONS]" : usage;
}

std::string help(const TerminalStyle& style) {
  std::string text = "Saccade runs computer-vision ONNX models on video.\n" + style.heading("Usage:") +
                     " saccade COMMAND [OPTIONS]\n\n" + style.heading("Commands:") + "\n";
  for (const CommandRow& command : all_commands())
    text += row(style, fmt::format("  {}", command.name), command.summary);
  text += "\n" + style.heading("Options:") + "\n";
  text += row(style, std::string(kHelpFlag), "Print this help and exit; of a command: saccade help COMMAND");
  text += row(style, "  -V,--version", "Print the version and exit");
  return text;
}

std::string help(const CommandRow& command, const TerminalStyle& style) {
  std::string text = paragraph(command.summary) + style.heading("Usage:") + " " + usage_of(command) + "\n";
  const std::vector<const Flag*> flags = flags_of(command.bit);
  if (std::ranges::any_of(flags, &Flag::is_positional)) text += "\n" + style.heading("Arguments:") + "\n";
  for (const Flag* flag : flags) {
    if (!flag->is_positional()) continue;
    text += row(style, left_of(*flag), description_of(*flag));
  }
  for (const FlagGroup& group : groups_of(flags)) {
    text += "\n" + style.heading(fmt::format("{}:", group.heading)) + "\n";
    if (group.heading == "Options") text += row(style, std::string(kHelpFlag), "Print this help and exit");
    for (const Flag* flag : group.flags) text += row(style, left_of(*flag), description_of(*flag));
  }
  if (!command.note.empty()) text += "\n" + paragraph(command.note);
  return text;
}

}  // namespace saccade::app
