#include "http/host_name.hpp"

#include <arpa/inet.h>
#include <strings.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>

namespace saccade::http {
namespace {

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (name.starts_with('[') && name.ends_with(']'))
    return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), address.data()) == 1;
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1;
}

bool equals(const std::string& a, const std::string& b) { return strcasecmp(a.c_str(), b.c_str()) == 0; }

}  // namespace

bool names_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  const std::string name(has_port ? host.substr(0, colon) : host);
  if (is_address(name) || equals(name, "localhost")) return true;
  std::array<char, HOST_NAME_MAX + 1> own{};
  if (gethostname(own.data(), own.size() - 1) != 0 || own[0] == '\0') return false;
  return equals(name, own.data()) || equals(name, std::string(own.data()) + ".local");
}

}  // namespace saccade::http
