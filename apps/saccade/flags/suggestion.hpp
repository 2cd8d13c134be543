#pragma once

#include <string>

#include "flags/flag.hpp"

namespace saccade::app {

/// The error for an ARGUMENT that COMMAND's parser does not know; nullptr: it is in the place of a command. Names what
/// to use instead if ARGUMENT is another tool's word, else the name that differs least.
std::string unknown_argument(const std::string& argument, const CommandRow* command);

}  // namespace saccade::app
