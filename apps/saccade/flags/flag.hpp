#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace saccade::app {

struct Action;
class FlagBinder;

/// Sets of commands.
using Commands = std::uint16_t;
inline constexpr Commands kRun = 1 << 0;
inline constexpr Commands kInfer = 1 << 1;
inline constexpr Commands kCompile = 1 << 2;
inline constexpr Commands kInspect = 1 << 3;
inline constexpr Commands kCheck = 1 << 4;
inline constexpr Commands kProfile = 1 << 5;
inline constexpr Commands kBench = 1 << 6;
inline constexpr Commands kDemo = 1 << 7;
inline constexpr Commands kValidate = 1 << 8;
inline constexpr Commands kLimits = 1 << 9;
inline constexpr Commands kGenerate = 1 << 10;
inline constexpr Commands kRecognise = 1 << 11;
inline constexpr Commands kCameras = 1 << 12;
inline constexpr Commands kServe = 1 << 13;

// The kinds of values. What is not an element of one is rejected by the parser, before a command sees it.

/// Takes no value.
struct Switch {};
/// A decimal integer.
struct Integer {
  std::uint64_t low = 0;
  std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
};
/// A decimal number.
struct Real {
  double low = 0;
  double high = 0;
};
/// A decimal number for all models, or NAME:NUMBER for the model of that name.
struct PerModel {
  double low = 0;
  double high = 0;
};
/// Bytes, as 512M.
struct Size {};
/// One of these names.
struct Choice {
  std::vector<std::string> names;
};
/// A path; its command opens it.
struct Path {
  bool is_folder = false;
};
/// NAME=VALUE.
struct Assignment {
  std::string_view example;
};
/// Text that its own parser reads. Names are what it usually is, for completion.
struct Text {
  std::string_view example;
  std::string_view wrong;  ///< rejected by the parser; empty: none is
  std::vector<std::string> names = {};
};
using Value = std::variant<Switch, Integer, Real, PerModel, Size, Choice, Path, Assignment, Text>;

/// How many values a flag takes.
enum class Count {
  kOne,
  kRepeatable,  ///< one each time that the flag is given
  kSeveral,     ///< one or several each time that the flag is given
  kList,        ///< comma-separated, repeatable
  kPair,        ///< two arguments
  kArguments,   ///< of a positional argument: any number
};

/// What few flags have.
struct Traits {
  /// The value without the flag. The parser sets it.
  std::string_view initial = {};
  /// What applies without the flag where that is not a value.
  std::string_view otherwise = {};
  Count count = Count::kOne;
  bool required = false;
  std::string_view instead = {};   ///< the flag that may be given in the place of a required one
  std::string_view needs = {};     ///< the flag without which this one has no meaning
  std::string_view or_needs = {};  ///< one that may be given in its place
  std::string_view excludes = {};  ///< flags that cannot be combined with this one, separated by spaces
  std::string_view group = {};     ///< the help's heading; empty: "Options"
  /// Older names that the parser accepts and nothing else mentions, separated by spaces.
  std::string_view aliases = {};
};

/// A flag or a positional argument: all that the parser, the help, docs/flags.md, the completions and the manual page
/// know about it.
struct Flag {
  Commands commands = 0;
  std::string_view name;  ///< "--iou", "-o,--output"; "MODEL" is a positional argument
  std::string_view form;  ///< the value in the help: "N"; empty: the choices
  Value value;
  std::string_view doc;
  Traits traits = {};

  bool is_positional() const { return name.front() != '-'; }
  bool is_switch() const { return std::holds_alternative<Switch>(value); }
  /// "--output" of "-o,--output".
  std::string_view long_name() const { return name.substr(name.find(',') + 1); }
  /// What stands for the value in the help: "N", "wait|oldest|newest"; empty for a switch.
  std::string metavar() const;
  /// The names that the value can be, for completion.
  std::vector<std::string> names() const;
};

/// A command.
struct CommandRow {
  Commands bit = 0;
  std::string_view name;
  Action (*add)(FlagBinder&) = nullptr;  ///< binds its flags
  std::string_view summary;
  std::string_view note = {};  ///< closes the help
};

/// The table of all commands, and that of all flags, in the order of the help.
const std::vector<CommandRow>& all_commands();
const std::vector<Flag>& all_flags();

/// The rows of a command.
std::vector<const Flag*> flags_of(Commands command);

}  // namespace saccade::app
