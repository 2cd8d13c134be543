#include "serve/memory_api.hpp"

#include <nlohmann/json.hpp>

#include "serve/json_request.hpp"
#include "serve/replies.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

/// The region that REQUEST names; empty: all.
std::string region_name(const HttpRequest& request) { return request.names.empty() ? std::string() : request.names[0]; }

HttpReply status_reply(const MemoryRegions& regions, const HttpRequest& request) {
  json list = json::array();
  for (const RegionInfo& region : regions.list(region_name(request)))
    list.push_back(
        {{"name", region.name}, {"key", region.key}, {"offset", region.offset}, {"byte_size", region.bytes}});
  return json_reply(list);
}

void add_region(MemoryRegions& regions, const HttpRequest& request) {
  const json parsed = parse_object(request.body);
  const json* key = member(parsed, "key", &json::is_string, "string");
  const std::optional<std::uint64_t> bytes = byte_count(parsed, "byte_size");
  if (key == nullptr || !bytes)
    fail(ErrorCode::kInvalidArgument, "'{}' is missing", key == nullptr ? "key" : "byte_size");
  regions.add({.name = region_name(request),
               .key = key->get<std::string>(),
               .offset = byte_count(parsed, "offset").value_or(0),
               .bytes = *bytes});
}

}  // namespace

std::vector<HttpRoute> memory_routes(MemoryRegions& regions) {
  constexpr std::size_t kMostBytes = 4096;
  std::vector<HttpRoute> routes;
  const auto add = [&](const std::string& path, const char* method,
                       std::function<HttpReply(const HttpRequest&)> reply) {
    const auto checked = [reply = std::move(reply)](const HttpRequest& request) {
      try {
        return reply(request);
      } catch (const Error& error) {
        return error_reply(error);
      }
    };
    routes.push_back({.path = path, .reply = checked, .method = method, .most_bytes = kMostBytes});
  };
  const std::string system = "/v2/systemsharedmemory";
  const std::string cuda = "/v2/cudasharedmemory";
  for (const char* part : {"", "/region/{}"}) {
    add(system + part + "/status", "GET",
        [&regions](const HttpRequest& request) { return status_reply(regions, request); });
    add(system + part + "/unregister", "POST", [&regions](const HttpRequest& request) {
      regions.remove(region_name(request));
      return HttpReply{};
    });
    // Clients unregister all that they may have left of both kinds before they begin.
    add(cuda + part + "/status", "GET", [](const HttpRequest& request) {
      if (!request.names.empty()) fail(ErrorCode::kInvalidArgument, "{}", kNoCudaMemory);
      return json_reply(json::array());
    });
    add(cuda + part + "/unregister", "POST", [](const HttpRequest& /*request*/) { return HttpReply{}; });
  }
  add(system + "/region/{}/register", "POST", [&regions](const HttpRequest& request) {
    add_region(regions, request);
    return HttpReply{};
  });
  add(cuda + "/region/{}/register", "POST",
      [](const HttpRequest& /*request*/) -> HttpReply { fail(ErrorCode::kInvalidArgument, "{}", kNoCudaMemory); });
  return routes;
}

}  // namespace saccade::serve
