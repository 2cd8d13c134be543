#include "serve/http_api.hpp"

#include <nlohmann/json.hpp>

#include "saccade/version.hpp"
#include "serve/documents.hpp"
#include "serve/http_jobs.hpp"
#include "serve/memory_api.hpp"
#include "serve/protocol.hpp"
#include "serve/replies.hpp"
#include "serve/repository_api.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

json metadata_of(const ServedModel& served) {
  const Signature& model = *served.signature();
  const auto describe = [&](const TensorInfo& tensor, std::optional<int> axis) {
    return json{{"name", tensor.name},
                {"datatype", datatype_of(tensor.dtype)},
                {"shape", described_shape(model, tensor, axis)}};
  };
  json metadata{{"name", model.name},
                {"versions", {kVersion}},
                {"platform", kPlatform},
                {"inputs", json::array()},
                {"outputs", json::array()}};
  for (const TensorInfo& input : model.inputs) metadata["inputs"].push_back(describe(input, 0));
  for (std::size_t i = 0; i < model.outputs.size(); ++i)
    metadata["outputs"].push_back(describe(model.outputs[i], image_axis_of(model, i)));
  if (served.predicts()) metadata["parameters"]["task"] = to_string(served.model().task());
  return metadata;
}

/// The version that REQUEST names; empty: none.
std::string_view version_of(const HttpRequest& request) {
  return request.names.size() < 2 ? std::string_view() : request.names[1];
}

/// The configuration that Triton's tools read.
json config_of(const ServedModel& served) {
  const Signature& model = *served.signature();
  const auto describe = [&](std::span<const TensorInfo> tensors) {
    json list = json::array();
    for (const TensorInfo& tensor : tensors)
      list.push_back({{"name", tensor.name},
                      {"data_type", fmt::format("TYPE_{}", datatype_of(tensor.dtype))},
                      {"dims", configured_shape(model, tensor)}});
    return list;
  };
  return {{"name", model.name},
          {"platform", kPlatform},
          {"backend", kBackend},
          {"max_batch_size", model.most_images > 1 ? model.most_images : 0},
          {"input", describe(model.inputs)},
          {"output", describe(model.outputs)}};
}

class Api {
 public:
  Api(Repository& models, Workers& controls, MemoryRegions& regions, const ApiOptions& options)
      : models_(models), controls_(controls), regions_(regions), options_(options) {}

  std::vector<HttpRoute> routes() const {
    std::vector<HttpRoute> routes;
    add_server(routes);
    for (const std::string_view of : {"/v2/models/{}", "/v2/models/{}/versions/{}"}) add_model(routes, std::string(of));
    add_repository(routes, models_, controls_);
    add_documents(routes);
    routes.push_back(
        {.path = "/predict/{}",
         .method = "POST",
         .respond = [api = *this](HttpRequest request,
                                  HttpRespond respond) { api.predict(std::move(request), std::move(respond)); },
         .most_bytes = options_.most_bytes});
    return routes;
  }

 private:
  using Reply = std::function<HttpReply(const HttpRequest&)>;

  void add_server(std::vector<HttpRoute>& routes) const {
    // Probes of orchestrators can't keep a secret, and must not wait for other requests. The port is open once all
    // models are warm.
    const auto empty = [](const HttpRequest& /*request*/, const HttpRespond& respond) { respond({}); };
    for (const char* path : {"/v2/health/live", "/v2/health/ready"})
      routes.push_back({.path = path, .respond = empty, .is_public = true});
    json metadata{{"name", kServer},
                  {"version", version()},
                  {"extensions", {"binary_tensor_data", "model_configuration", "model_repository"}}};
    for (const RegionKind kind : {RegionKind::kSystem, RegionKind::kCuda})
      if (regions_.permits(kind)) metadata["extensions"].push_back(extension_of(kind));
    routes.push_back(
        {.path = "/v2", .reply = [reply = json_reply(metadata)](const HttpRequest& /*request*/) { return reply; }});
  }

  void add_model(std::vector<HttpRoute>& routes, const std::string& path) const {
    const auto get = [&](const char* of, HttpReply (*reply)(const ServedModel&)) {
      routes.push_back({.path = path + of, .reply = [api = *this, reply](const HttpRequest& request) {
                          HttpReply made;
                          return api.with(request, [&](ServedModel& model) { made = reply(model); })
                                     ? made
                                     : api.unknown(request);
                        }});
    };
    get("", [](const ServedModel& model) { return json_reply(metadata_of(model)); });
    get("/config", [](const ServedModel& model) { return json_reply(config_of(model)); });
    get("/ready", [](const ServedModel& /*model*/) { return HttpReply{}; });
    routes.push_back(
        {.path = path + "/infer",
         .method = "POST",
         .respond = [api = *this](HttpRequest request,
                                  HttpRespond respond) { api.infer(std::move(request), std::move(respond)); },
         .most_bytes = options_.most_bytes});
  }

  /// Calls USE with the model that REQUEST names; false if there is no such model or version.
  bool with(const HttpRequest& request, const std::function<void(ServedModel&)>& use) const {
    return with_version(models_, request.names.at(0), version_of(request), use);
  }

  HttpReply unknown(const HttpRequest& request) const {
    return error_reply(404, unknown_model(models_, request.names.at(0), version_of(request)));
  }

  /// RESPOND, with a line in the access log.
  HttpRespond logged(std::string_view method, const HttpRequest& request, HttpRespond respond) const {
    if (options_.access_log == nullptr) return respond;
    return [log = options_.access_log, method, model = request.names.at(0), bytes = request.body.size(),
            trace = parse_traceparent(request.header(kTraceHeader)), arrived = Clock::now(),
            respond = std::move(respond)](HttpReply reply) {
      log->add({.method = method,
                .model = model,
                .status = reply.status,
                .duration = Clock::now() - arrived,
                .request_bytes = bytes,
                .response_bytes = reply.body.size()},
               trace);
      respond(std::move(reply));
    };
  }

  void infer(HttpRequest request, HttpRespond send) const {
    HttpRespond respond = logged("infer", request, std::move(send));
    const bool is_known = with(request, [&](ServedModel& model) {
      using enum ServedModel::Preparation;
      const auto preparation = is_short(request) ? kShort : kLong;
      model.submit(infer_job(model.signature(), std::move(request), std::move(respond), regions_), preparation);
    });
    if (!is_known) respond(unknown(request));
  }

  void predict(HttpRequest request, HttpRespond send) const {
    HttpRespond respond = logged("predict", request, std::move(send));
    const bool is_known = with(request, [&](ServedModel& model) {
      PredictOptions options = predict_options(request, options_.most_pixels);
      if (!model.predicts())
        options.problem =
            fmt::format("'{}' makes no predictions: its input is no image, or it has no card", model.model().name());
      model.submit(predict_job(std::move(request), std::move(respond), options, regions_),
                   ServedModel::Preparation::kLong);
    });
    if (!is_known) respond(unknown(request));
  }

  Repository& models_;
  Workers& controls_;
  MemoryRegions& regions_;
  ApiOptions options_;
};

}  // namespace

std::vector<HttpRoute> routes(Repository& models, Workers& controls, MemoryRegions& regions,
                              const ApiOptions& options) {
  std::vector<HttpRoute> all = Api(models, controls, regions, options).routes();
  for (HttpRoute& route : memory_routes(regions)) all.push_back(std::move(route));
  return all;
}

}  // namespace saccade::serve
