#include "serve/memory_api.hpp"

#include <nlohmann/json.hpp>

#include "base/module.hpp"
#include "serve/json_request.hpp"
#include "serve/replies.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

/// The region that REQUEST names; empty: all.
std::string region_name(const HttpRequest& request) { return request.names.empty() ? std::string() : request.names[0]; }

json described(const RegionInfo& region) {
  json described{{"name", region.name}, {"byte_size", region.bytes}};
  if (region.gpu) {
    described["device_id"] = *region.gpu;
  } else {
    described["key"] = region.key;
    described["offset"] = region.offset;
  }
  return described;
}

HttpReply status_reply(const MemoryRegions& regions, RegionKind kind, const HttpRequest& request) {
  json list = json::array();
  for (const RegionInfo& region : registered(regions, kind, region_name(request))) list.push_back(described(region));
  return json_reply(list);
}

/// The member NAME of PARSED, which must be there.
std::uint64_t required_count(const json& parsed, const char* name) {
  const std::optional<std::uint64_t> count = byte_count(parsed, name);
  if (!count) fail(ErrorCode::kInvalidArgument, "'{}' is missing", name);
  return *count;
}

const json& required(const json& parsed, const char* name, bool (json::*is)() const noexcept, const char* type) {
  const json* found = member(parsed, name, is, type);
  if (found == nullptr) fail(ErrorCode::kInvalidArgument, "'{}' is missing", name);
  return *found;
}

void add_system(MemoryRegions& regions, const HttpRequest& request) {
  const json parsed = parse_object(request.body);
  regions.add({.name = region_name(request),
               .key = required(parsed, "key", &json::is_string, "string").get<std::string>(),
               .offset = byte_count(parsed, "offset").value_or(0),
               .bytes = required_count(parsed, "byte_size")});
}

void add_cuda(MemoryRegions& regions, const HttpRequest& request) {
  const json parsed = parse_object(request.body);
  const json& handle = required(parsed, "raw_handle", &json::is_object, "object");
  const json& text = required(handle, "b64", &json::is_string, "string");
  const auto bytes = module<HttpModule>("http").decode_base64(text.get_ref<const std::string&>());
  if (!bytes) fail(ErrorCode::kInvalidArgument, "the raw_handle is no base64");
  const json& device = required(parsed, "device_id", &json::is_number_integer, "integer");
  regions.add({.name = region_name(request),
               .bytes = required_count(parsed, "byte_size"),
               .gpu = gpu_ordinal(device.get<std::int64_t>())},
              *bytes);
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
  const auto add_kind = [&](const std::string& path, RegionKind kind,
                            void (*add_region)(MemoryRegions&, const HttpRequest&)) {
    for (const char* part : {"", "/region/{}"}) {
      add(path + part + "/status", "GET",
          [&regions, kind](const HttpRequest& request) { return status_reply(regions, kind, request); });
      add(path + part + "/unregister", "POST", [&regions, kind](const HttpRequest& request) {
        unregister(regions, kind, region_name(request));
        return HttpReply{};
      });
    }
    add(path + "/region/{}/register", "POST", [&regions, add_region](const HttpRequest& request) {
      add_region(regions, request);
      return HttpReply{};
    });
  };
  add_kind("/v2/systemsharedmemory", RegionKind::kSystem, add_system);
  add_kind("/v2/cudasharedmemory", RegionKind::kCuda, add_cuda);
  return routes;
}

}  // namespace saccade::serve
