#pragma once

#include <cstddef>
#include <string_view>

namespace saccade::app {

/// The columns of a terminal that TEXT (UTF-8) takes: two for a wide East Asian character or an emoji, else one.
std::size_t text_width(std::string_view text);

/// The longest start of TEXT (UTF-8) that takes at most COLUMNS.
std::string_view cut_to_width(std::string_view text, std::size_t columns);

}  // namespace saccade::app
