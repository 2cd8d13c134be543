#include "server_flags.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/http_module.hpp"
#include "base/input_file.hpp"
#include "flags/numbers.hpp"
#include "serve/grpc_module.hpp"

namespace saccade::app {
namespace {

bool is_v4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_v6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool is_loopback(const std::string& host) {
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) return IN6_IS_ADDR_LOOPBACK(&address);
  return host.starts_with("127.");
}

/// "[HOST:]PORT"; an IPv6 address stands in brackets.
void parse_address(std::string_view flag, ServerAddress& address, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const std::optional<std::uint16_t> number = read_number<std::uint16_t>(port);
  if (!number) throw UsageError(flag, fmt::format("'{}' is not a port: expected [HOST:]PORT, as 9090", text));
  if (is_bracketed ? !is_v6(host) : !is_v4(host))
    throw UsageError(flag,
                     fmt::format("'{}' is not an address: HOST is an IP address of this machine, an IPv6 address in "
                                 "brackets, or localhost",
                                 text));
  address.host = host;
  address.port = *number;
}

/// Throws UsageError if both would listen at one address.
void check_ports(std::string_view flag, const ServerAddress& one, std::string_view other_flag,
                 const ServerAddress& other) {
  const bool are_given = one.is_given() && other.is_given() && one.port != 0;
  if (are_given && one.port == other.port && one.host == other.host)
    throw UsageError(other_flag, fmt::format("{} listens at port {}: give another port", flag, one.port));
}

/// The token in FILE. Throws Error.
std::string read_token(const std::string& file) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 4096;
  std::string token = read_input(file, kLongest);
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  const bool is_printable = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < kShortest || !is_printable)
    throw Error(ErrorCode::kInvalidFile,
                fmt::format("{} does not hold a token: {} or more printable ASCII characters without spaces, as "
                            "`openssl rand -hex 32` prints",
                            file, kShortest));
  return token;
}

}  // namespace

void ServerFlags::bind(FlagBinder& binder) {
  binder.bind("--metrics", [this](const std::string& text) { parse_address("--metrics", metrics, text); });
  binder.bind("--preview", [this](const std::string& text) { parse_address("--preview", preview, text); });
  binder.bind("--tls", &tls);
  binder.bind("--token-file", &token_file);
  binder.bind("--insecure", &insecure);
}

void ServerFlags::check() const {
  const bool is_protected = !tls.empty() && !token_file.empty();
  check_ports("--metrics", metrics, "--preview", preview);
  if (insecure || is_protected) return;
  for (const auto& [flag, address] : {std::pair("--metrics", &metrics), std::pair("--preview", &preview)})
    if (address->is_given() && !is_loopback(address->host))
      throw UsageError(flag, fmt::format("{} can be reached from other machines: protect it with --tls and "
                                         "--token-file, or accept that with --insecure",
                                         address->host));
}

std::string ServerFlags::token() const {
  for (const std::string& file : tls) check_input(file);
  return token_file.empty() ? std::string() : read_token(token_file);
}

void ServeAddressFlags::bind(FlagBinder& binder) {
  binder.bind("--http", [this](const std::string& text) { parse_address("--http", http, text); });
  binder.bind("--grpc", [this](const std::string& text) { parse_address("--grpc", grpc, text); });
  binder.bind("--tls", &tls);
  binder.bind("--client-ca", &client_ca);
  binder.bind("--token-file", &token_file);
  binder.bind("--insecure", &insecure);
}

void ServeAddressFlags::check() const {
  check_ports("--http", http, "--grpc", grpc);
  const bool is_protected = !tls.empty() && (!token_file.empty() || !client_ca.empty());
  if (insecure || is_protected) return;
  for (const auto& [flag, address] : {std::pair("--http", &http), std::pair("--grpc", &grpc)})
    if (address->is_given() && !is_loopback(address->host))
      throw UsageError(flag, fmt::format("{} can be reached from other machines: protect it with --tls and "
                                         "--token-file or --client-ca, or accept that with --insecure",
                                         address->host));
}

HttpOptions ServeAddressFlags::options() const {
  HttpOptions options;
  options.host = http.host;
  options.port = http.port;
  for (const std::string& file : tls) check_input(file);
  if (!tls.empty()) {
    options.certificate = tls[0];
    options.key = tls[1];
  }
  if (!client_ca.empty()) check_input(client_ca);
  options.client_ca = client_ca;
  if (!token_file.empty()) options.token = read_token(token_file);
  // No web page may use what only this machine can reach.
  options.own_names_only = is_loopback(http.host);
  return options;
}

serve::GrpcOptions ServeAddressFlags::grpc_options() const {
  const HttpOptions protection = options();
  serve::GrpcOptions made;
  made.host = grpc.host;
  made.port = grpc.port;
  made.certificate = protection.certificate;
  made.key = protection.key;
  made.client_ca = protection.client_ca;
  made.token = protection.token;
  return made;
}

PreviewOptions ServerFlags::preview_options() const {
  PreviewOptions options;
  options.host = preview.host;
  options.port = preview.port;
  if (!tls.empty()) {
    options.certificate = tls[0];
    options.key = tls[1];
  }
  options.token = token();
  return options;
}

}  // namespace saccade::app
