#pragma once

#include <string>
#include <string_view>

#include "base/printable.hpp"
#include "base/utf8.hpp"

namespace saccade::serve {

/// TEXT of a file as a string of protobuf, which is UTF-8: a client could not read another.
inline std::string text_of(std::string_view text) { return is_utf8(text) ? std::string(text) : printable(text); }

}  // namespace saccade::serve
