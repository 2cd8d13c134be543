#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace saccade::http {

/// The bytes of TEXT, base64 of RFC 4648 with padding; nullopt: it is none.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace saccade::http
