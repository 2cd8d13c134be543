#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/report_text.hpp"

namespace saccade {

/// The columns of a terminal that reports fit.
inline constexpr std::size_t kTerminalWidth = 80;

/// SENTENCE after LABEL, wrapped at words: lines of 80 columns, the sentence at column 12.
ReportText wrap(std::string_view label, std::string_view sentence);

/// TEXT for a terminal without UTF-8: "us" instead of "µs".
ReportText with_ascii_units(ReportText text);

}  // namespace saccade
