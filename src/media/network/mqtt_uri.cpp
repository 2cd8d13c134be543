#include "media/network/mqtt_uri.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/percent_decoded.hpp"
#include "base/uri_options.hpp"
#include "base/utf8.hpp"
#include "media/network/uri.hpp"

namespace saccade::network {
namespace {

constexpr std::string_view kMqttHelp = "the options behind '#' are qos=0|1|2, backlog=1000, timeout=5s and client=NAME";
constexpr int kPort = 1883;
constexpr int kTlsPort = 8883;
constexpr std::size_t kLongestTopic = 65535;

/// All of TEXT as a number from LEAST to MOST.
std::optional<int> read_integer(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

/// The user's name or password, without its escapes.
std::string read_login(const MqttUri& uri, std::string_view text) {
  std::optional<std::string> decoded = percent_decoded(text);
  // It may be a password: it is not repeated.
  if (!decoded)
    fail(ErrorCode::kInvalidArgument, "{}: its login holds %00, or a '%' that begins no escape: write that as %25",
         uri.name);
  return *std::move(decoded);
}

void read_broker(MqttUri& uri, std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view login = authority.substr(0, at);
    const std::size_t colon = login.find(':');
    uri.broker.user = read_login(uri, login.substr(0, colon));
    if (colon != std::string_view::npos) uri.broker.password = read_login(uri, login.substr(colon + 1));
    authority.remove_prefix(at + 1);
  }
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && !authority.ends_with(']');
  std::string_view host = authority.substr(0, has_port ? colon : authority.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) fail(ErrorCode::kInvalidArgument, "{}: it names no host: write mqtt://HOST:PORT/TOPIC", uri.name);
  uri.broker.host = host;
  uri.broker.port = uri.broker.tls ? kTlsPort : kPort;
  if (!has_port) return;
  const std::optional<int> port = read_integer(authority.substr(colon + 1), 1, 65535);
  // It may be a part of the password: it is not repeated.
  if (!port)
    fail(ErrorCode::kInvalidArgument, "{}: its port must be a number from 1 to 65535; write a '/' in a password as %2F",
         uri.name);
  uri.broker.port = *port;
}

void check_topic(const MqttUri& uri) {
  if (uri.topic.empty())
    fail(ErrorCode::kInvalidArgument, "{}: the topic is missing: write mqtt://HOST:PORT/TOPIC", uri.name);
  if (uri.topic.find('+') != std::string::npos || uri.topic.size() > kLongestTopic || !is_utf8(uri.topic))
    fail(ErrorCode::kInvalidArgument, "{}: a topic must not contain '+', must be UTF-8 and at most {} bytes long",
         uri.name, kLongestTopic);
}

[[noreturn]] void refuse_mqtt_option(const MqttUri& uri, const UriOption& option, std::string_view wanted) {
  fail(ErrorCode::kInvalidArgument, "{}: '{}={}': {} must be {}; {}", uri.name, option.name, option.value, option.name,
       wanted, kMqttHelp);
}

void read_mqtt_option(MqttUri& uri, const UriOption& option) {
  constexpr int kMostBacklog = 1'000'000;
  if (option.name == "qos") {
    const auto qos = read_integer(option.value, 0, 2);
    if (!qos) refuse_mqtt_option(uri, option, "0, 1 or 2");
    uri.broker.qos = *qos;
  } else if (option.name == "backlog") {
    const auto backlog = read_integer(option.value, 1, kMostBacklog);
    if (!backlog) refuse_mqtt_option(uri, option, "a number of results from 1 to 1000000");
    uri.backlog = static_cast<std::size_t>(*backlog);
  } else if (option.name == "timeout") {
    const auto timeout = read_duration(option.value);
    if (!timeout) refuse_mqtt_option(uri, option, "a time from 100ms to 3600s, as 5s or 500ms");
    uri.broker.timeout = *timeout;
  } else if (option.name == "client") {
    uri.broker.client = option.value;
  } else {
    fail(ErrorCode::kInvalidArgument, "{}: there is no option '{}'; {}", uri.name, option.name, kMqttHelp);
  }
}

}  // namespace

MqttUri parse_mqtt(const std::string& uri) {
  constexpr std::string_view kPlain = "mqtt://";
  constexpr std::string_view kSecure = "mqtts://";
  MqttUri parsed;
  const std::size_t hash = std::min(uri.find('#'), uri.size());
  const std::string_view url = std::string_view(uri).substr(0, hash);
  const std::string_view options = std::string_view(uri).substr(std::min(hash + 1, uri.size()));
  parsed.name = redact(url);
  parsed.broker.tls = url.starts_with(kSecure);
  if (!parsed.broker.tls && !url.starts_with(kPlain))
    fail(ErrorCode::kInvalidArgument,
         "'{}' is not an MQTT address: expected mqtt://HOST:PORT/TOPIC or mqtts://HOST:PORT/TOPIC", parsed.name);
  // It may be a part of the password: it is not repeated.
  if (options.find('@') != std::string_view::npos)
    fail(ErrorCode::kInvalidArgument, "mqtt://: what follows '#' has an '@': write a '#' in a password as %23; {}",
         kMqttHelp);
  const std::string_view rest = url.substr(parsed.broker.tls ? kSecure.size() : kPlain.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  read_broker(parsed, rest.substr(0, slash));
  parsed.topic = rest.substr(std::min(slash + 1, rest.size()));
  check_topic(parsed);
  for (const UriOption& option : split_uri_options(options, parsed.name, kMqttHelp)) read_mqtt_option(parsed, option);
  return parsed;
}

}  // namespace saccade::network
