#pragma once

#include <optional>
#include <string_view>

#include "base/http_module.hpp"

namespace saccade::http {

/// Values of a request's headers.
struct Claims {
  std::string_view authorization;
  std::string_view host;
  std::string_view origin;  ///< of the page whose request it is; empty: browsers send none with some requests
};

/// What a request without access gets. IS_PUBLIC: its path needs no token. nullopt: it has access.
std::optional<HttpReply> refusal(const HttpOptions& options, bool is_public, const Claims& claims);

}  // namespace saccade::http
