#include "base/http_module.hpp"

#include <algorithm>

#include "base/percent_decoded.hpp"

namespace saccade {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Takes the first NAME=VALUE off QUERY, as sent.
std::pair<std::string_view, std::string_view> take_parameter(std::string_view& query) {
  const std::size_t end = std::min(query.find('&'), query.size());
  const std::string_view pair = query.substr(0, end);
  query.remove_prefix(std::min(end + 1, query.size()));
  const std::size_t equals = std::min(pair.find('='), pair.size());
  return {pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size()))};
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [given, value] : headers)
    if (std::ranges::equal(given, name, {}, lower, lower)) return value;
  return {};
}

std::optional<std::string> HttpRequest::parameter(std::string_view name) const {
  for (std::string_view rest = query; !rest.empty();) {
    const auto [given, value] = take_parameter(rest);
    if (given == name) return percent_decoded(value).value_or(std::string(value));
  }
  return std::nullopt;
}

std::string_view HttpRequest::parameter_besides(std::initializer_list<std::string_view> names) const {
  for (std::string_view rest = query; !rest.empty();) {
    const auto [given, value] = take_parameter(rest);
    if (!given.empty() && std::ranges::find(names, given) == names.end()) return given;
  }
  return {};
}

HttpReply page_reply(std::string page, std::string_view policy) {
  return {.status = 200,
          .type = "text/html; charset=utf-8",
          .body = std::move(page),
          .stream = nullptr,
          .headers = {{"Content-Security-Policy", std::string(policy)},
                      {"Referrer-Policy", "no-referrer"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-cache"}}};
}

}  // namespace saccade
