#include "media/isolated/channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace saccade::isolated {
namespace {

/// Room for one descriptor.
struct Ancillary {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes{};
};

void attach(msghdr& message, Ancillary& ancillary, int descriptor) {
  message.msg_control = ancillary.bytes.data();
  message.msg_controllen = ancillary.bytes.size();
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
}

int descriptor_of(msghdr& message) {
  int descriptor = -1;
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  if (part != nullptr && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(part), sizeof(int));
  return descriptor;
}

}  // namespace

Channel::~Channel() { close(socket_); }

bool Channel::send(Kind kind, const void* body, std::size_t size, std::string_view text, int descriptor,
                   bool waits) const {
  text = text.substr(0, kLongestText);
  Header header{.kind = kind, .text = static_cast<std::uint32_t>(text.size())};
  std::array<iovec, 3> parts = {
      {{&header, sizeof header}, {const_cast<void*>(body), size}, {const_cast<char*>(text.data()), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Ancillary ancillary;
  if (descriptor >= 0) attach(message, ancillary, descriptor);
  const int flags = MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT);
  ssize_t sent = -1;
  do sent = sendmsg(socket_, &message, flags);
  while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

Channel::Receipt Channel::receive(Packet& packet, bool waits, bool takes_descriptor) const {
  std::array<iovec, 2> parts = {{{&packet.header, sizeof packet.header}, {packet.bytes.data(), packet.bytes.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Ancillary ancillary;
  if (takes_descriptor) {  // without room for them, the kernel closes descriptors
    message.msg_control = ancillary.bytes.data();
    message.msg_controllen = ancillary.bytes.size();
  }
  ssize_t received = -1;
  do received = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC | (waits ? 0 : MSG_DONTWAIT));
  while (received < 0 && errno == EINTR);
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Receipt::kNothing;
  if (received <= 0) return Receipt::kClosed;
  packet.descriptor = takes_descriptor ? descriptor_of(message) : -1;
  const auto bytes = static_cast<std::size_t>(received);
  const bool is_whole = bytes >= sizeof(Header) && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  packet.size = is_whole ? bytes - sizeof(Header) : 0;
  const Header& header = packet.header;
  const bool is_ours = is_whole && header.magic == kMagic && header.version == kVersion;
  if (is_ours && header.text <= kLongestText && header.text <= packet.size) return Receipt::kMessage;
  packet.header.text = 0;
  return Receipt::kInvalid;
}

}  // namespace saccade::isolated
