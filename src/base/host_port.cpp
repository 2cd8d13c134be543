#include "base/host_port.hpp"

#include <fmt/format.h>

namespace saccade {

std::string host_port(std::string_view host, int port) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace saccade
