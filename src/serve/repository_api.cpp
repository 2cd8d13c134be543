#include "serve/repository_api.hpp"

#include <nlohmann/json.hpp>

#include "serve/json_request.hpp"
#include "serve/parameters.hpp"
#include "serve/protocol.hpp"
#include "serve/replies.hpp"
#include "serve/trace_context.hpp"

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
  if (parameters != nullptr && !parameters->empty()) refuse_parameter(parameters->begin().key());
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

void add_repository(std::vector<HttpRoute>& routes, Repository& models, Workers& controls) {
  constexpr std::size_t kMostBytes = 4096;
  using Reply = std::function<HttpReply(Repository&, const HttpRequest&)>;
  const auto post = [&](const char* path, const Reply& reply) {
    // Loading takes as long as a model is compiled, and the threads that serve other paths must not wait for it.
    const auto respond = [&models, &controls, reply](HttpRequest request, HttpRespond send) {
      controls.add([&models, reply, request = std::move(request), send = std::move(send)] {
        const TraceContext trace = parse_traceparent(request.header(kTraceHeader));
        const LogTraceScope scope(trace.for_log());
        respond_with(send, [&] { return reply(models, request); });
      });
    };
    routes.push_back({.path = path, .method = "POST", .respond = respond, .most_bytes = kMostBytes});
  };
  routes.push_back({.path = "/v2/repository/index",
                    .method = "POST",
                    .respond =
                        [&models](const HttpRequest& request, const HttpRespond& send) {
                          respond_with(send, [&] { return index_reply(models, request); });
                        },
                    .most_bytes = kMostBytes});
  post("/v2/repository/models/{}/load", load);
  post("/v2/repository/models/{}/unload", unload);
}

}  // namespace saccade::serve
