#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace saccade {

/// A part of a URI without its escapes %XX (RFC 3986, 2.1); nullopt if one is not valid, or a zero.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace saccade
