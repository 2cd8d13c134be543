#include "http/routes.hpp"

#include <algorithm>
#include <optional>

#include "base/percent_decoded.hpp"

namespace saccade::http {
namespace {

constexpr std::string_view kAnyName = "{}";

/// The part of PATH up to the next slash, which is taken off.
std::string_view take_part(std::string_view& path) {
  const std::size_t slash = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, slash);
  path.remove_prefix(std::min(slash + 1, path.size()));
  return part;
}

/// What stands for each "{}" of PATTERN in PATH; nullopt if they differ.
std::optional<std::vector<std::string>> names_in(std::string_view pattern, std::string_view path) {
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  std::vector<std::string> names;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = take_part(pattern);
    const std::string_view part = take_part(path);
    if (wanted != kAnyName) {
      if (wanted != part) return std::nullopt;
      continue;
    }
    std::optional<std::string> name = percent_decoded(part);
    if (!name || name->empty()) return std::nullopt;
    names.push_back(std::move(*name));
  }
  return names;
}

bool serves(const HttpRoute& route, std::string_view method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

}  // namespace

Routes::Routes(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {}

Routes::Match Routes::find(std::string_view method, std::string_view path) const {
  Match match;
  for (const HttpRoute& route : routes_) {
    std::optional<std::vector<std::string>> names = names_in(route.path, path);
    if (!names) continue;
    if (serves(route, method)) return {&route, std::move(*names), {}};
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  return match;
}

std::size_t Routes::most_bytes() const {
  std::size_t most = 0;
  for (const HttpRoute& route : routes_) most = std::max(most, route.most_bytes);
  return most;
}

}  // namespace saccade::http
