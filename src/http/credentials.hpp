#pragma once

#include <optional>
#include <string_view>

#include "base/http_module.hpp"

namespace saccade::http {

/// What a request without access gets: its AUTHORIZATION and HOST are the headers' values. IS_PUBLIC: its path needs no
/// token. nullopt: it has access.
std::optional<HttpReply> refusal(const HttpOptions& options, bool is_public, std::string_view authorization,
                                 std::string_view host);

}  // namespace saccade::http
