#pragma once

#include <string>

namespace saccade::serve {

/// The system's reason why no server can listen on HOST, an IP address, and PORT; empty if one can. gRPC has no more
/// than a message for its own log.
std::string bind_failure(const std::string& host, int port);

}  // namespace saccade::serve
