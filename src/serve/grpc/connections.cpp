#include "grpc/connections.hpp"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "base/host_port.hpp"
#include "base/percent_decoded.hpp"

namespace saccade::serve {
namespace {

/// As gRPC names it, but for escapes; empty: unknown.
std::string peer_of(int descriptor) {
  sockaddr_storage name{};
  socklen_t bytes = sizeof(name);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&name), &bytes) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> host{};
  const auto named = [&](const char* scheme, int family, const void* address, in_port_t port) {
    const char* text = inet_ntop(family, address, host.data(), host.size());
    return text == nullptr ? std::string() : scheme + host_port(text, ntohs(port));
  };
  if (name.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
    return named("ipv4:", AF_INET, &v4.sin_addr, v4.sin_port);
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
  constexpr std::size_t kMappedAt = 12;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
    return named("ipv4:", AF_INET, &v6.sin6_addr.s6_addr[kMappedAt], v6.sin6_port);
  return named("ipv6:", AF_INET6, &v6.sin6_addr, v6.sin6_port);
}

/// 0: DESCRIPTOR is no socket.
std::uint64_t cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t bytes = sizeof(cookie);
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) == 0 ? cookie : 0;
}

}  // namespace

void Connections::add(int descriptor) {
  std::string peer = peer_of(descriptor);
  const std::uint64_t cookie = cookie_of(descriptor);
  const auto number = static_cast<std::size_t>(descriptor);
  const std::scoped_lock lock(mutex_);
  if (peers_.size() <= number) peers_.resize(number + 1);
  // Its peer may have come back with the same port over another descriptor.
  const auto last = by_peer_.find(peers_[number]);
  if (last != by_peer_.end() && last->second.descriptor == descriptor) by_peer_.erase(last);
  if (!peer.empty() && cookie != 0) by_peer_.insert_or_assign(peer, Connection{descriptor, cookie});
  peers_[number] = std::move(peer);
}

std::optional<std::uint64_t> Connections::received_bytes(const std::string& peer) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_peer_.find(percent_decoded(peer).value_or(peer));
  if (found == by_peer_.end()) return std::nullopt;
  const auto& [descriptor, cookie] = found->second;
  tcp_info info{};
  socklen_t bytes = sizeof(info);
  const bool is_read = getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0;
  // gRPC may have closed it before. A cookie is never used again: what has it now had it then.
  if (!is_read || bytes < offsetof(tcp_info, tcpi_segs_out) || cookie_of(descriptor) != cookie) return std::nullopt;
  return info.tcpi_bytes_received;
}

}  // namespace saccade::serve
