#pragma once

#include <CLI/CLI.hpp>

#include "flags/flag.hpp"

namespace saccade::app {

/// Accepts one value of FLAG, and rewrites it so that CLI11 can convert it: integers without leading zeros, sizes in
/// bytes.
CLI::Validator validator_of(const Flag& flag);

}  // namespace saccade::app
