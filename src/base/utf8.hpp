#pragma once

#include <cstddef>
#include <string_view>

namespace saccade {

/// Length of the UTF-8 sequence that TEXT (not empty) starts with; 0 if it is malformed.
std::size_t utf8_length(std::string_view text) noexcept;
/// Whether all of TEXT is valid UTF-8.
bool is_utf8(std::string_view text) noexcept;
/// Code points in TEXT; a malformed byte counts as one.
std::size_t utf8_count(std::string_view text) noexcept;

}  // namespace saccade
