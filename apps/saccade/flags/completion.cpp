#include <fmt/format.h>

#include <algorithm>

#include "flags/help.hpp"

namespace saccade::app {
namespace {

/// TEXT in single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// As shell_quoted(), for fish, whose single quotes know two escapes.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

bool is_list(const Flag& flag) { return flag.traits.count == Count::kList; }

const Path* path_of(const Flag& flag) { return std::get_if<Path>(&flag.value); }

/// The flag's names as an alternative of a `case`: "-o|--output".
std::string alternatives(const Flag& flag) {
  std::string text(flag.name);
  std::ranges::replace(text, ',', '|');
  return text;
}

/// How bash completes the flag's value: a call of one of the functions below.
std::string bash_values(const Flag& flag) {
  if (const Path* path = path_of(flag)) return path->is_folder ? "_saccade_folders" : "_saccade_files";
  const std::vector<std::string> names = flag.names();
  if (names.empty()) return "return";
  return fmt::format("{} {}", is_list(flag) ? "_saccade_list" : "_saccade_words",
                     shell_quoted(fmt::format("{}", fmt::join(names, " "))));
}

/// The part of bash's `case` of one command: values by the flag before, then flags, then the positional argument.
std::string bash_command(const CommandRow& command) {
  std::string values;
  std::string flags;
  std::string positional = "return";
  for (const Flag* flag : flags_of(command.bit)) {
    if (flag->is_positional()) {
      positional = bash_values(*flag);
      continue;
    }
    flags += fmt::format("{} ", flag->long_name());
    if (!flag->is_switch())
      values += fmt::format("        {}) {}; return ;;\n", alternatives(*flag), bash_values(*flag));
  }
  return fmt::format(
      "    {})\n      case $previous in\n{}      esac\n      case $word in\n        -*) _saccade_words '{}--help' ;;\n"
      "        *) {} ;;\n      esac\n      ;;\n",
      command.name, values, flags, positional);
}

/// A flag's description where a colon or bracket would end it.
std::string zsh_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// ":MESSAGE:ACTION" of _arguments for the flag's value.
std::string zsh_action(const Flag& flag) {
  const std::string form = zsh_escaped(flag.is_positional() ? flag.name : flag.metavar());
  if (const Path* path = path_of(flag)) return fmt::format(":{}:{}", form, path->is_folder ? "_files -/" : "_files");
  std::vector<std::string> names = flag.names();
  if (names.empty()) return fmt::format(":{}: ", form);
  for (std::string& name : names) name = zsh_escaped(name);
  if (is_list(flag)) return fmt::format(":{}:_values -s , value {}", form, fmt::join(names, " "));
  return fmt::format(":{}:({})", form, fmt::join(names, " "));
}

/// The specifications of _arguments for FLAG: one for each of its names.
std::string zsh_specs(const Flag& flag) {
  if (flag.is_positional()) {
    const char* many = flag.traits.count == Count::kArguments ? "*" : "1";
    return fmt::format(" \\\n        {}", shell_quoted(many + zsh_action(flag)));
  }
  const bool is_repeatable =
      is_list(flag) || flag.traits.count == Count::kRepeatable || flag.traits.count == Count::kSeveral;
  std::string text;
  std::string names(flag.name);
  std::ranges::replace(names, ',', ' ');
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(' ', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    // `--name=` also completes a value after the equals sign.
    const bool is_joined = name[1] == '-' && !flag.is_switch() && flag.traits.count != Count::kPair;
    const std::string once = is_repeatable ? "*" : fmt::format("({})", names);
    std::string values = flag.is_switch() ? "" : zsh_action(flag);
    if (flag.traits.count == Count::kPair) values += values;
    text += fmt::format(" \\\n        {}", shell_quoted(fmt::format("{}{}{}[{}]{}", once, name, is_joined ? "=" : "",
                                                                    zsh_escaped(flag.doc), values)));
    begin = end + 1;
  }
  return text;
}

/// How fish completes the flag's value.
std::string fish_values(const Flag& flag) {
  if (const Path* path = path_of(flag)) return path->is_folder ? " -x -a '(__fish_complete_directories)'" : " -r -F";
  if (flag.is_switch()) return "";
  const std::string names = fmt::format("{}", fmt::join(flag.names(), " "));
  if (names.empty()) return " -x";
  if (is_list(flag)) return fmt::format(" -x -a \"(__fish_append , {})\"", names);
  return fmt::format(" -x -a {}", fish_quoted(names));
}

std::string fish_command(const CommandRow& command) {
  const std::string prefix = fmt::format("complete -c saccade -n '__fish_seen_subcommand_from {}'", command.name);
  std::string text;
  for (const Flag* flag : flags_of(command.bit)) {
    if (flag->is_positional()) {
      const Path* path = path_of(*flag);
      text += path != nullptr && !path->is_folder ? prefix + " -F\n" : prefix + " -f" + fish_values(*flag) + "\n";
      continue;
    }
    const std::string letter = flag->name[1] == '-' ? "" : fmt::format(" -s {}", flag->name[1]);
    text += fmt::format("{}{} -l {}{} -d {}\n", prefix, letter, flag->long_name().substr(2), fish_values(*flag),
                        fish_quoted(flag->doc));
  }
  return text;
}

std::string command_names() {
  std::string names;
  for (const CommandRow& command : all_commands()) names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
  return names;
}

// `:` and `=` separate words in bash: a word that holds one is completed from there on.
constexpr std::string_view kBashFunctions = R"(# bash completion of saccade, by `saccade generate bash`.
_saccade_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word")
  if [[ ${COMPREPLY[0]} == *: ]]; then compopt -o nospace; fi
}
_saccade_list() {
  local before=
  [[ $word == *,* ]] && before=${word%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${word##*,}")
  compopt -o nospace
}
_saccade_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); }
_saccade_folders() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word"); }
_saccade() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $word == '=' ]]; then word=; fi
  if ((COMP_CWORD == 1)); then
    _saccade_words '@COMMANDS@ help --help --version'
    return
  fi
  case ${COMP_WORDS[1]} in
    help) _saccade_words '@COMMANDS@' ;;
)";

}  // namespace

std::string bash_completion() {
  std::string text(kBashFunctions);
  constexpr std::string_view kMark = "@COMMANDS@";
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark))
    text.replace(at, kMark.size(), command_names());
  for (const CommandRow& command : all_commands()) text += bash_command(command);
  return text + "  esac\n}\ncomplete -F _saccade saccade\n";
}

std::string zsh_completion() {
  std::string text =
      "#compdef saccade\n# zsh completion of saccade, by `saccade generate zsh`.\n_saccade() {\n"
      "  local -a commands=(\n";
  for (const CommandRow& command : all_commands())
    text += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", command.name, zsh_escaped(command.summary))));
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    _arguments '--help[Print this help and "
      "exit]' '--version[Print the version and exit]'\n    return\n  fi\n  shift words\n  ((CURRENT--))\n"
      "  case $words[1] in\n";
  for (const CommandRow& command : all_commands()) {
    text += fmt::format("    {})\n      _arguments -s '(- *)'{{-h,--help}}'[Print this help and exit]'", command.name);
    for (const Flag* flag : flags_of(command.bit)) text += zsh_specs(*flag);
    text += "\n      ;;\n";
  }
  return text +
         "  esac\n}\nif [ \"$funcstack[1]\" = _saccade ]; then\n  _saccade \"$@\"\nelse\n  compdef _saccade "
         "saccade\nfi\n";
}

std::string fish_completion() {
  std::string text =
      "# fish completion of saccade, by `saccade generate fish`.\ncomplete -c saccade -f\n"
      "complete -c saccade -n __fish_use_subcommand -l version -d 'Print the version and exit'\n"
      "complete -c saccade -s h -l help -d 'Print this help and exit'\n";
  for (const CommandRow& command : all_commands()) {
    text += fmt::format("complete -c saccade -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_quoted(command.summary));
    text += fish_command(command);
  }
  return text;
}

}  // namespace saccade::app
