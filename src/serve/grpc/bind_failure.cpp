#include "grpc/bind_failure.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace saccade::serve {

std::string bind_failure(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); code != 0)
    return gai_strerror(code);
  const int descriptor = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
  const int is_on = 1;
  const bool is_bound = descriptor >= 0 &&
                        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &is_on, sizeof(is_on)) == 0 &&
                        bind(descriptor, found->ai_addr, found->ai_addrlen) == 0;
  std::string reason = is_bound ? "" : std::strerror(errno);
  if (descriptor >= 0) close(descriptor);
  freeaddrinfo(found);
  return reason;
}

}  // namespace saccade::serve
