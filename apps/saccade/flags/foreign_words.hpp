#pragma once

#include <span>
#include <string>
#include <string_view>

#include "flags/flag.hpp"

namespace saccade::app {

/// A flag or command of another tool and what to use here.
struct ForeignWord {
  std::string_view word;    ///< "--conf-thres", "predict"
  std::string_view remedy;  ///< a clause: "use --conf", "use saccade run"
};

/// The table of all. Of several rows for one flag, the first whose remedy names only flags of the command applies.
std::span<const ForeignWord> foreign_flags();
std::span<const ForeignWord> foreign_commands();

/// The remedy for FLAG ("--imgsz") on COMMAND's line; empty if there is none.
std::string_view remedy_for_flag(std::string_view flag, const CommandRow& command);
/// The remedy for a WORD in the place of a command; empty if there is none.
std::string_view remedy_for_command(std::string_view word);

/// The device that another tool calls NAME: "cuda" for "gpu", "cuda:1" for "1"; empty if there is none.
std::string device_called(std::string_view name);

/// Whether all flags that REMEDY names are flags of COMMAND.
bool applies_to(std::string_view remedy, const CommandRow& command);

}  // namespace saccade::app
