#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "flags/help.hpp"

namespace saccade::app {
namespace {

/// A part of the reference: the flags that only one command has, or a group of those that several share.
struct ReferencePart {
  const CommandRow* command = nullptr;  ///< nullptr: a group of shared flags
  std::string_view heading;
  Commands commands = 0;  ///< that have any of the flags
  std::vector<const Flag*> flags;
};

/// The parts of the flags that several commands share, one for each heading.
std::vector<ReferencePart> shared_parts() {
  std::vector<const Flag*> shared;
  for (const Flag& flag : all_flags())
    if (!std::has_single_bit(flag.commands)) shared.push_back(&flag);
  std::vector<ReferencePart> parts;
  for (const FlagGroup& group : groups_of(shared)) {
    if (group.flags.empty()) continue;
    Commands all = 0;
    for (const Flag* flag : group.flags) all |= flag->commands;
    parts.push_back({.heading = group.heading, .commands = all, .flags = group.flags});
  }
  return parts;
}

std::vector<ReferencePart> reference_parts() {
  std::vector<ReferencePart> parts;
  for (const CommandRow& row : all_commands()) {
    ReferencePart part{.command = &row, .heading = row.name, .commands = row.bit};
    for (const Flag* flag : flags_of(row.bit))
      if (flag->commands == row.bit) part.flags.push_back(flag);
    parts.push_back(std::move(part));
  }
  for (ReferencePart& part : shared_parts()) parts.push_back(std::move(part));
  return parts;
}

/// "`run`, `bench`" of COMMANDS, each name in MARK.
std::string list_of(Commands commands, std::string_view mark) {
  std::string text;
  for (const CommandRow& row : all_commands())
    if ((row.bit & commands) != 0) text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", mark, row.name, mark);
  return text;
}

/// "1 to 1024" of a number; empty of other values.
std::string range_of(const Flag& flag) {
  if (const auto* integer = std::get_if<Integer>(&flag.value)) {
    // The largest number of a type is no limit to a reader.
    constexpr std::uint64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
    return integer->high >= kNoLimit ? fmt::format("from {}", integer->low)
                                     : fmt::format("{} to {}", integer->low, integer->high);
  }
  if (const auto* each = std::get_if<PerModel>(&flag.value)) return fmt::format("{} to {:.10g}", each->low, each->high);
  if (const auto* real = std::get_if<Real>(&flag.value)) return fmt::format("{} to {:.10g}", real->low, real->high);
  return {};
}

/// What the help says of FLAG, and which values it accepts.
std::string full_description(const Flag& flag, Commands usual) {
  std::string text = description_of(flag) + ".";
  if (const std::string range = range_of(flag); !range.empty())
    text += fmt::format(" {}: {}.", flag.is_positional() ? flag.name : flag.form, range);
  if (!flag.traits.excludes.empty()) text += fmt::format(" Not with {}.", flag.traits.excludes);
  if (const Commands others = usual & ~flag.commands; std::popcount(flag.commands) > 1 && others != 0) {
    const bool is_elsewhere = std::ranges::any_of(
        all_flags(), [&](const Flag& row) { return row.name == flag.name && (row.commands & others) != 0; });
    text += is_elsewhere ? fmt::format(" Differs for {}: see there.", list_of(others, ""))
                         : fmt::format(" Not for {}.", list_of(others, ""));
  }
  return text;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown_rows(const ReferencePart& part) {
  std::string text = "| flag | value | description |\n| --- | --- | --- |\n";
  for (const Flag* flag : part.flags) {
    std::string names(flag->name);
    if (const std::size_t comma = names.find(','); comma != std::string::npos) names.replace(comma, 1, "`, `");
    const std::string value = flag->is_positional() ? "" : flag->metavar();
    text += fmt::format("| `{}` | {} | {} |\n", names, value.empty() ? "" : "`" + cell(value) + "`",
                        cell(full_description(*flag, part.commands)));
  }
  return text;
}

std::string man_entries(const ReferencePart& part) {
  std::string text;
  for (const Flag* flag : part.flags) {
    std::string names = "\\fB" + roff(flag->name) + "\\fR";
    if (const std::size_t comma = names.find(','); comma != std::string::npos) names.replace(comma, 1, "\\fR, \\fB");
    const std::string value = flag->is_positional() ? "" : flag->metavar();
    if (!value.empty()) names += " \\fI" + roff(value) + "\\fR";
    text += fmt::format(".TP\n{}\n{}\n", names, roff(full_description(*flag, part.commands)));
  }
  return text;
}

}  // namespace

std::string markdown_reference() {
  std::string text =
      "# Flags\n\n<!-- saccade generate markdown > docs/flags.md -->\n\nThis page is generated from the table of flags "
      "(`apps/saccade/flags/table.cpp`), as are `--help`, the shell\ncompletions and the manual page. "
      "[command.md](command.md) describes the commands.\n";
  for (const ReferencePart& part : reference_parts()) {
    if (part.command != nullptr)
      text += fmt::format("\n## `{}`\n\n{}.\n\n`{}`\n\n", part.heading, part.command->summary, usage_of(*part.command));
    else
      text += fmt::format("\n## {}\n\nFlags of {}.\n\n", part.heading, list_of(part.commands, "`"));
    text += markdown_rows(part);
    if (part.command != nullptr && !part.command->note.empty()) text += fmt::format("\n{}\n", part.command->note);
  }
  return text;
}

std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '-') {
      escaped += "\\-";
    } else if (c == '\\') {
      escaped += "\\e";
    } else if ((c == '.' || c == '\'') && escaped.empty()) {
      escaped += "\\&";  // else a request
      escaped += c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string manual_page() {
  std::string text =
      ".TH SACCADE 1 \"\" \"Saccade\" \"User Commands\"\n.SH NAME\nsaccade \\- run computer-vision models on live "
      "video\n.SH SYNOPSIS\n.B saccade\n.I COMMAND\n.RI [ OPTIONS ]\n.SH DESCRIPTION\nSaccade runs computer-vision "
      "ONNX "
      "models on images and video, on the CPU or a GPU.\n";
  for (const ReferencePart& part : reference_parts()) {
    if (part.command != nullptr)
      text += fmt::format(".SH \"SACCADE {}\"\n.nf\n{}\n.fi\n.PP\n{}.\n", part.heading, roff(usage_of(*part.command)),
                          roff(part.command->summary));
    else
      text += fmt::format(".SH \"{}\"\nFlags of {}.\n", part.heading, list_of(part.commands, ""));
    text += man_entries(part);
    if (part.command != nullptr && !part.command->note.empty())
      text += fmt::format(".PP\n{}\n", roff(part.command->note));
  }
  return text +
         ".SH \"EXIT STATUS\"\n.TP\n0\nSuccess.\n.TP\n1\nFailure; one line on standard error names it.\n.TP\n2\nThe "
         "command line is invalid, or would write a file that it reads.\n.TP\n3\nA requested check failed.\n";
}

}  // namespace saccade::app
