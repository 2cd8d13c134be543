#pragma once

#include <span>
#include <string>
#include <string_view>

namespace saccade {

/// TEXT as it may stand between tags and in quoted attributes of HTML and SVG: & < > " ' become references, what
/// printable() writes out spaces, bytes that are no UTF-8 U+FFFD.
std::string escape_markup(std::string_view text);
/// Base64 of RFC 4648, padded: how bytes stand in a data: URI.
std::string base64(std::string_view bytes);

}  // namespace saccade
