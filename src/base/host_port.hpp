#pragma once

#include <string>
#include <string_view>

namespace saccade {

/// HOST:PORT as in a URL: "127.0.0.1:8000", "[::1]:8000". HOST is a name or an address without brackets.
std::string host_port(std::string_view host, int port);

}  // namespace saccade
