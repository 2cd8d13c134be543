#pragma once

#include <cstddef>
#include <string_view>

namespace saccade {

/// The Levenshtein distance of two UTF-8 texts: the least number of characters (code points) to insert, delete and
/// substitute that turns one into the other. A malformed byte counts as one character.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace saccade
