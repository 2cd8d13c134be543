#include "media/network/uri.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/error.hpp"
#include "base/uri_options.hpp"

namespace saccade {
namespace network {
namespace {

constexpr std::array<std::string_view, 8> kSchemes = {"rtsp", "rtsps", "rtmp", "rtmps", "srt", "udp", "http", "https"};
constexpr std::string_view kColon = "://";
constexpr std::string_view kHidden = "***";
constexpr std::string_view kStreamHelp =
    "the options behind '#' are transport=tcp|udp (of rtsp), timeout=5s and frames=all|reference|key";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// In lower case; empty if TEXT has none.
std::string scheme_of(std::string_view text) {
  const std::size_t end = text.find(kColon);
  return end == std::string_view::npos ? std::string() : lower_case(text.substr(0, end));
}

/// Whether a parameter of this NAME has a secret: cameras have "password", "pwd", "loginpas", services "token",
/// "api_key", "Signature", SRT "passphrase".
bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords = {"pas", "pwd", "token", "key", "secret", "auth", "sig", "cred"};
  const std::string lower = lower_case(name);
  return lower == "pw" ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool is_name(unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; }

/// PATH, with its query, without secret values. Cameras take passwords in the path, too: "/user=a_password=b".
std::string hide_values(std::string_view path) {
  const std::size_t query = std::min(path.find('?'), path.size());
  std::string hidden;
  for (std::size_t i = 0; i < path.size(); ++i) {
    hidden.push_back(path[i]);
    if (path[i] != '=') continue;
    std::size_t begin = i;
    while (begin > 0 && is_name(static_cast<unsigned char>(path[begin - 1]))) --begin;
    if (!is_secret(path.substr(begin, i - begin))) continue;
    const std::size_t end = std::min(path.find_first_of(i < query ? "&;/?#" : "&;#", i), path.size());
    hidden += kHidden;
    i = end - 1;
  }
  return hidden;
}

/// Whether AUTHORITY, without user, is a host and perhaps a port.
bool is_host(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.ends_with(']')) return true;
  return authority.substr(colon + 1).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Where the user and password of URL end, whose authority begins at BEGIN. A password may have a '/' that should be
/// percent-encoded, and the text may be cut before the '@'.
std::optional<std::size_t> end_of_login(std::string_view url, std::size_t begin) {
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) return begin + at;
  if (is_host(authority)) return std::nullopt;
  const std::size_t at = url.substr(0, url.find('?', begin)).rfind('@');
  return at == std::string_view::npos || at < begin ? begin + authority.size() : at;
}

/// URL begins with its scheme, and a colon and slashes.
std::string redact_url(std::string_view url) {
  const std::size_t begin = std::min(url.find_first_not_of('/', url.find(':') + 1), url.size());
  const std::optional<std::size_t> end = end_of_login(url, begin);
  std::string hidden(url.substr(0, begin));
  if (end) {
    const std::string_view login = url.substr(begin, *end - begin);
    const std::size_t colon = login.find(':');
    hidden += login.substr(0, colon);
    if (colon != std::string_view::npos) hidden.append(":").append(kHidden);
  }
  return hidden + hide_values(url.substr(end.value_or(begin)));
}

/// URL, which has no passwords, with kHidden in the place of a stream key.
std::string without_key(std::string url) {
  const std::size_t begin = url.find(kColon) + kColon.size();
  const std::size_t end = std::min(url.find('?', begin), url.size());
  const std::size_t slash = url.rfind('/', end);
  if (scheme_of(url).starts_with("rtmp") && slash >= begin && slash != std::string::npos)
    url.replace(slash + 1, end - slash - 1, kHidden);
  return url;
}

[[noreturn]] void refuse_option(const StreamUri& stream, const UriOption& option, std::string_view wanted) {
  fail(ErrorCode::kInvalidArgument, "{}: '{}={}': {} must be {}; {}", stream.name, option.name, option.value,
       option.name, wanted, kStreamHelp);
}

void read_transport(StreamUri& stream, const UriOption& option) {
  if (!stream.scheme.starts_with("rtsp"))
    fail(ErrorCode::kInvalidArgument, "{}: transport is an option of rtsp: {} has one transport; {}", stream.name,
         stream.scheme, kStreamHelp);
  if (option.value == "tcp")
    stream.transport = Transport::kTcp;
  else if (option.value == "udp")
    stream.transport = Transport::kUdp;
  else
    refuse_option(stream, option, "tcp or udp");
}

void read_frames(StreamUri& stream, const UriOption& option) {
  if (option.value == "all")
    stream.frames = Frames::kAll;
  else if (option.value == "reference")
    stream.frames = Frames::kReference;
  else if (option.value == "key")
    stream.frames = Frames::kKey;
  else
    refuse_option(stream, option, "all, reference or key");
}

void read_stream_option(StreamUri& stream, const UriOption& option) {
  if (option.name == "transport") {
    read_transport(stream, option);
  } else if (option.name == "frames") {
    read_frames(stream, option);
  } else if (option.name == "timeout") {
    const auto timeout = read_duration(option.value);
    if (!timeout) refuse_option(stream, option, "a time from 100ms to 3600s, as 5s or 500ms");
    stream.timeout = *timeout;
  } else {
    fail(ErrorCode::kInvalidArgument, "{}: there is no option '{}'; {}", stream.name, option.name, kStreamHelp);
  }
}

/// The authority of the URL must name a place: udp listens on a port of any address.
void check_place(const StreamUri& stream) {
  std::string_view authority = std::string_view(stream.url).substr(stream.url.find(kColon) + kColon.size());
  authority = authority.substr(0, authority.find_first_of("/?"));
  const std::string_view place = authority.substr(authority.rfind('@') + 1);
  if (place.empty() || (place.starts_with(':') && stream.scheme != "udp" && stream.scheme != "srt"))
    fail(ErrorCode::kInvalidArgument, "{}: it names no host: write {}://HOST:PORT/PATH", stream.name, stream.scheme);
  if (!is_host(place))
    fail(ErrorCode::kInvalidArgument, "{}: the port must be a number; write a '/' in a password as %2F", stream.name);
}

}  // namespace

std::optional<std::chrono::nanoseconds> read_duration(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || !(unit.empty() || unit == "s" || unit == "ms")) return std::nullopt;
  const double seconds = unit == "ms" ? value / 1000 : value;
  if (!(seconds >= 0.1 && seconds <= 3600)) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

std::string redact(std::string_view text) {
  std::string hidden;
  while (!text.empty()) {
    const std::size_t colon = text.find(":/");
    if (colon == std::string_view::npos) break;
    std::size_t begin = colon;
    while (begin > 0 && is_name(static_cast<unsigned char>(text[begin - 1]))) --begin;
    const std::size_t end = std::min(text.find_first_of(" \t\r\n'\"<>", colon), text.size());
    // With one slash it is a path, or a misspelt URL.
    const std::string_view rest = text.substr(colon, end - colon);
    if (!rest.starts_with(kColon) && rest.find('@') == std::string_view::npos) {
      hidden.append(text.substr(0, colon + 1));
      text.remove_prefix(colon + 1);
      continue;
    }
    hidden.append(text.substr(0, begin)).append(without_key(redact_url(text.substr(begin, end - begin))));
    text.remove_prefix(end);
  }
  return hidden.append(text);
}

std::string source_name(const std::string& uri) {
  return is_network(uri) ? redact_url(std::string_view(uri).substr(0, uri.find('#'))) : uri;
}

std::string publish_name(const std::string& url) { return without_key(source_name(url)); }

StreamUri parse_stream(const std::string& uri) {
  StreamUri stream;
  const std::size_t hash = std::min(uri.find('#'), uri.size());
  stream.url = uri.substr(0, hash);
  stream.name = source_name(uri);
  stream.scheme = scheme_of(uri);
  const std::string_view options = std::string_view(uri).substr(std::min(hash + 1, uri.size()));
  // It may be a part of the password: it is not repeated.
  if (options.find('@') != std::string_view::npos)
    fail(ErrorCode::kInvalidArgument, "{}://: what follows '#' has an '@': write a '#' in a password as %23; {}",
         stream.scheme, kStreamHelp);
  check_place(stream);
  for (const UriOption& option : split_uri_options(options, stream.name, kStreamHelp))
    read_stream_option(stream, option);
  return stream;
}

}  // namespace network

bool is_network(std::string_view uri) {
  return std::ranges::find(network::kSchemes, network::scheme_of(uri)) != network::kSchemes.end();
}

}  // namespace saccade
