#pragma once

#include <cstddef>
#include <string_view>

namespace saccade {

/// Bytes of the UTF-8 sequence that TEXT (not empty) starts with; 0 where it is damaged.
std::size_t utf8_length(std::string_view text) noexcept;
/// Whether TEXT is UTF-8 from its beginning to its end.
bool is_utf8(std::string_view text) noexcept;
/// Code points in TEXT; a damaged byte counts as one.
std::size_t utf8_count(std::string_view text) noexcept;

}  // namespace saccade
