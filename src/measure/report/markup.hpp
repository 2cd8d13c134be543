#pragma once

#include <span>
#include <string>
#include <string_view>

namespace saccade {

/// TEXT escaped for HTML and SVG text and quoted attributes: & < > " ' become references, characters that printable()
/// escapes become spaces, bytes that are not UTF-8 become U+FFFD.
std::string escape_markup(std::string_view text);
/// Base64 of RFC 4648, padded, for data: URIs.
std::string base64(std::string_view bytes);

}  // namespace saccade
