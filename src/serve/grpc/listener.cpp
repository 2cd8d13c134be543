#include "grpc/listener.hpp"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/descriptors.hpp"
#include "base/error.hpp"
#include "base/host_port.hpp"

namespace saccade::serve {
namespace {

/// A socket that listens, or -1 with errno.
int listen_on(const addrinfo& at) {
  const int descriptor = socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol);
  if (descriptor < 0) return -1;
  const int on = 1;
  const int off = 0;
  // "::" is for IPv4, too.
  if (at.ai_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      ::bind(descriptor, at.ai_addr, at.ai_addrlen) == 0 && ::listen(descriptor, SOMAXCONN) == 0)
    return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

int port_of(int socket) {
  sockaddr_storage name{};
  socklen_t bytes = sizeof(name);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &bytes) != 0) return 0;
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

}  // namespace

Listener::Listener(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); code != 0)
    fail(ErrorCode::kIo, "can't listen on {}: {}", host_port(host, port), gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  socket_ = listen_on(*found);
  if (socket_ < 0) fail(ErrorCode::kIo, "can't listen on {}: {}", host_port(host, port), std::strerror(errno));
  port_ = port_of(socket_);
  end_ = eventfd(0, EFD_CLOEXEC);
  if (end_ >= 0) return;
  const int error = errno;
  ::close(socket_);
  fail(ErrorCode::kIo, "can't listen on {}: {}", host_port(host, port), std::strerror(error));
}

Listener::~Listener() {
  close();
  ::close(end_);
}

void Listener::start(std::function<void(int descriptor)> take) {
  thread_ = std::thread([this, take = std::move(take)] { accept_all(take); });
}

void Listener::close() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!write(end_, &one, sizeof(one));
    thread_.join();
  }
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void Listener::accept_all(const std::function<void(int descriptor)>& take) const {
  constexpr std::chrono::milliseconds kPause{100};  // without descriptors or memory
  pollfd waiting[] = {{.fd = end_, .events = POLLIN, .revents = 0}, {.fd = socket_, .events = POLLIN, .revents = 0}};
  for (;;) {
    if (poll(waiting, 2, -1) < 0) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (waiting[0].revents != 0) return;
    const int descriptor = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0 && is_reserved(descriptor)) {
      ::close(descriptor);
    } else if (descriptor >= 0) {
      const int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      take(descriptor);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace saccade::serve
