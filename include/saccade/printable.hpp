#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// TEXT that somebody else wrote (names in a model, labels, names of files) as it may be shown on one line: what would
/// steer a terminal, end the line or turn its direction is written out. Control characters become \n, \t, \x1b, \u009b;
/// so do line and paragraph separators and marks of direction (\u202e); bytes that are no UTF-8 become \xff. Results
/// and names that the API hands out are as they were written: programs that show them call this.
std::string printable(std::string_view text);

/// The same for text of several lines: line feeds and tabs stay.
std::string printable_lines(std::string_view text);

/// JSON of others' strings as it may be shown: what printable() writes out stands there as \uXXXX, the same to who
/// parses it, and bytes that are no UTF-8 as U+FFFD.
std::string printable_json(std::string json);

}  // namespace saccade
