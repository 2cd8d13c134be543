#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "saccade/printable.hpp"

namespace saccade {

/// What a text begins with.
struct Glyph {
  std::size_t bytes = 1;
  char32_t code = 0;  ///< the byte, where it is no UTF-8
  bool is_utf8 = true;
  bool is_printable = false;  ///< whether it may be shown as it is
};

/// TEXT is not empty.
Glyph first_glyph(std::string_view text) noexcept;

/// Appends printable(TEXT) to OUT, which is a std::string or a buffer of fmt's: nothing else is allocated.
template <typename Out>
void append_printable(Out& out, std::string_view text);

}  // namespace saccade
