#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "saccade/printable.hpp"

namespace saccade {

/// The first character of a text.
struct Glyph {
  std::size_t bytes = 1;
  char32_t code = 0;  ///< the byte, if it is not UTF-8
  bool is_utf8 = true;
  bool is_printable = false;  ///< whether it can be shown unescaped
};

/// TEXT is not empty.
Glyph first_glyph(std::string_view text) noexcept;

/// Appends printable(TEXT) to OUT, a std::string or a buffer of fmt; allocates nothing else.
template <typename Out>
void append_printable(Out& out, std::string_view text);

}  // namespace saccade
