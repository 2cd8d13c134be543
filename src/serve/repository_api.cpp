#include "serve/repository_api.hpp"

#include <nlohmann/json.hpp>

#include "serve/json_request.hpp"
#include "serve/protocol.hpp"
#include "serve/replies.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

/// The object in REQUEST's body; an empty body is an empty object.
json object_in(const HttpRequest& request) {
  return request.body.empty() ? json::object() : parse_object(request.body);
}

HttpReply index_reply(const Repository& models, const HttpRequest& request) {
  const json body = object_in(request);
  const json* ready = member(body, "ready", &json::is_boolean, "boolean");
  const bool is_loaded_only = ready != nullptr && ready->get<bool>();
  json list = json::array();
  for (const Repository::Entry& entry : models.index()) {
    if (is_loaded_only && !entry.is_loaded) continue;
    list.push_back({{"name", entry.name},
                    {"version", kVersion},
                    {"state", entry.is_loaded ? "READY" : "UNAVAILABLE"},
                    {"reason", entry.is_loaded ? std::string_view() : kNotLoaded}});
  }
  return json_reply(list);
}

HttpReply load(Repository& models, const HttpRequest& request) {
  const json body = object_in(request);
  const json* parameters = member(body, "parameters", &json::is_object, "object");
  if (parameters != nullptr && !parameters->empty())
    refuse("the parameter '{}' is not supported: a model is loaded as its file and card are",
           brief(parameters->begin().key()));
  models.load(request.names.at(0));
  return {};
}

HttpReply unload(Repository& models, const HttpRequest& request) {
  // No model depends on another one.
  (void)flag(object_in(request), "unload_dependents", false);
  models.unload(request.names.at(0));
  return {};
}

}  // namespace

void add_repository(std::vector<HttpRoute>& routes, Repository& models) {
  constexpr std::size_t kMostBytes = 4096;
  const auto post = [&](const char* path, const auto& reply) {
    routes.push_back({.path = path,
                      .reply = [&models, reply](const HttpRequest& request) -> HttpReply {
                        try {
                          return reply(models, request);
                        } catch (const Error& error) {
                          return error_reply(error);
                        }
                      },
                      .method = "POST",
                      .most_bytes = kMostBytes});
  };
  post("/v2/repository/index", index_reply);
  post("/v2/repository/models/{}/load", load);
  post("/v2/repository/models/{}/unload", unload);
}

}  // namespace saccade::serve
