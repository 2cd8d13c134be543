#pragma once

#include <string>
#include <string_view>

#include "base/report_text.hpp"

namespace saccade {

/// SENTENCE behind LABEL, broken at words: lines of 80 columns, the sentence at column 12.
ReportText wrap(std::string_view label, std::string_view sentence);

/// TEXT for a terminal without UTF-8: "us" where it says "µs".
ReportText with_ascii_units(ReportText text);

}  // namespace saccade
