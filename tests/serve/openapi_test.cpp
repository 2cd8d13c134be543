#include "serve/http_api.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace saccade::serve {
namespace {

using nlohmann::json;

/// PATH with each {name} as a route has it.
std::string route_of(const std::string& path) {
  std::string route;
  bool is_name = false;
  for (const char c : path) {
    if (c == '}') is_name = false;
    if (!is_name) route += c;
    if (c == '{') is_name = true;
  }
  return route;
}

class OpenApi : public testing::Test {
 protected:
  Repository models_{[](const std::string& /*path*/) { return std::unique_ptr<ServedModel>(); }, {}};
  Workers workers_{1};
  MemoryRegions regions_;
  std::vector<HttpRoute> routes_ = routes(models_, workers_, regions_, {});
  json document_ = json::parse(std::ranges::find(routes_, "/openapi.json", &HttpRoute::path)->reply({}).body);
};

TEST_F(OpenApi, DescribesTheRoutesOfTheServer) {
  std::set<std::string> served = {"get /metrics public=0"};  // the command's
  for (const HttpRoute& route : routes_)
    served.insert(
        fmt::format("{} {} public={:d}", route.method == "GET" ? "get" : "post", route.path, route.is_public));
  std::set<std::string> described;
  for (const auto& [path, item] : document_.at("paths").items())
    for (const char* method : {"get", "post"})
      if (item.contains(method))
        described.insert(fmt::format("{} {} public={:d}", method, route_of(path), item[method].contains("security")));
  EXPECT_EQ(described, served);
}

/// Every {"$ref"} in NODE.
void collect_references(const json& node, std::set<std::string>& references) {
  if (node.is_structured())
    for (const json& each : node) collect_references(each, references);
  if (node.is_object() && node.contains("$ref")) references.insert(node["$ref"].get<std::string>().substr(1));
}

TEST_F(OpenApi, UsesEachPartThatItDefines) {
  std::set<std::string> references;
  collect_references(document_, references);
  std::set<std::string> parts;
  for (const char* kind : {"parameters", "responses", "schemas"})
    for (const auto& [name, part] : document_.at("components").at(kind).items())
      parts.insert(fmt::format("/components/{}/{}", kind, name));
  EXPECT_EQ(references, parts);
}

}  // namespace
}  // namespace saccade::serve
