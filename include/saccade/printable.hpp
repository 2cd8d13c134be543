#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// Untrusted TEXT (names in a model, labels, file names) escaped for display on one line. Characters that could control
/// a terminal, end the line or change the text direction are escaped: control characters as `\n`, `\t`, `\x1b`,
/// `\u009b`, line and paragraph separators and direction marks as `\u202e`, bytes that are not UTF-8 as `\xff`. The API
/// returns results and names unescaped: programs that display them call this.
std::string printable(std::string_view text);

/// The same for multi-line text: line feeds and tabs are kept.
std::string printable_lines(std::string_view text);

/// JSON with untrusted strings, escaped for display: what printable() escapes becomes `\uXXXX`, which parses to the
/// same string, and bytes that are not UTF-8 become U+FFFD.
std::string printable_json(std::string json);

}  // namespace saccade
