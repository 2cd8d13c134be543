#pragma once

#include <string>
#include <vector>

#include "flags/flag.hpp"
#include "terminal_style.hpp"

// All that is written about flags, from their table.
namespace saccade::app {

/// The flags under one heading.
struct FlagGroup {
  std::string_view heading;
  std::vector<const Flag*> flags;
};

/// FLAGS without positional arguments, by heading, in the order of first appearance; those without one are "Options".
std::vector<FlagGroup> groups_of(const std::vector<const Flag*>& flags);

/// FLAG's description with what its row says beyond it: "... (required; repeatable; default: 0.7)".
std::string description_of(const Flag& flag);

/// "saccade run MODEL... --source SRC [OPTIONS]"
std::string usage_of(const CommandRow& command);

/// `saccade --help`, and that of a command, in at most 80 columns.
std::string help(const TerminalStyle& style = {});
std::string help(const CommandRow& command, const TerminalStyle& style = {});

/// What `saccade generate` prints.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();
std::string manual_page();
std::string markdown_reference();

/// TEXT of groff with its special characters escaped.
std::string roff(std::string_view text);

}  // namespace saccade::app
