#pragma once

#include "base/report_text.hpp"
#include "measure/statistics/latency_shape.hpp"

namespace saccade {

/// A histogram for a terminal, at most 80 columns wide: a row per bin with its lower edge, a bar proportional to its
/// count and the count itself. IS_UTF8: bars of block characters and a dot at the density; else of '#'.
ReportText terminal_histogram(const LatencyShape& shape, bool is_utf8);

/// Whether the terminal's locale (the first of LC_ALL, LC_CTYPE, LANG that is set) is UTF-8.
bool locale_is_utf8();

}  // namespace saccade
