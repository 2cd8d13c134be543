#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// SENTENCE behind LABEL, broken at words: lines of 80 columns, the sentence at column 12.
std::string wrap(std::string_view label, std::string_view sentence);

/// TEXT for a terminal without UTF-8: "us" where it says "µs".
std::string with_ascii_units(std::string text);

}  // namespace saccade
