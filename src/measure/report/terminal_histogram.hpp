#pragma once

#include "base/report_text.hpp"
#include "measure/statistics/latency_shape.hpp"

namespace saccade {

/// Rows of a histogram for a terminal, 80 columns wide at most: a row a bin with its lower edge, a bar as long as its
/// count and the count itself. IS_UTF8: bars of eighths of a block and a dot where the density lies; else of '#'.
ReportText terminal_histogram(const LatencyShape& shape, bool is_utf8);

/// Whether the terminal's locale (LC_ALL, LC_CTYPE, LANG, the first that is set) says UTF-8.
bool locale_is_utf8();

}  // namespace saccade
