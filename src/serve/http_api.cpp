#include "serve/http_api.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "saccade/draw.hpp"
#include "saccade/image.hpp"
#include "saccade/results.hpp"
#include "saccade/version.hpp"
#include "serve/infer_request.hpp"
#include "serve/multipart.hpp"
#include "serve/tensor_json.hpp"

namespace saccade::serve {
namespace {

using nlohmann::json;

HttpReply json_reply(int status, const json& body) {
  return {.status = status,
          .type = "application/json",
          .body = body.dump(-1, ' ', false, json::error_handler_t::replace),
          .stream = nullptr,
          .headers = {}};
}

HttpReply error_reply(int status, const std::string& sentence) { return json_reply(status, {{"error", sentence}}); }

/// What a client may know of ERROR: what is wrong with the request, nothing about the machine.
HttpReply error_reply(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidFile:
    case ErrorCode::kUnsupported: return error_reply(400, error.what());
    default: log(LogLevel::kWarning, "a request has failed: {}", error.what());
  }
  return error_reply(500, "the model can't be run");
}

/// Tells when to come again.
HttpReply refusal_reply(const ServedModel& model, Refusal reason) {
  HttpReply reply = reason == Refusal::kFull   ? error_reply(429, "as many requests wait as may: come again later")
                    : reason == Refusal::kLate ? error_reply(503, "the request's timeout passed while it waited")
                                               : error_reply(503, "the server is ending");
  const double seconds = std::chrono::duration<double>(model.expected_wait()).count();
  reply.headers.emplace_back("Retry-After", std::to_string(std::max(1, static_cast<int>(std::ceil(seconds)))));
  return reply;
}

Signature signature_of(const Model& model) {
  return {.name = model.name(), .inputs = model.inputs(), .outputs = model.outputs()};
}

json metadata_of(const ServedModel& served) {
  const auto tensors = [](std::span<const TensorInfo> infos) {
    json list = json::array();
    for (const TensorInfo& info : infos)
      list.push_back({{"name", info.name},
                      {"datatype", datatype_of(info.dtype)},
                      {"shape", std::vector(info.shape.begin(), info.shape.end())}});
    return list;
  };
  const Model& model = served.model();
  json metadata{{"name", model.name()},
                {"versions", {"1"}},
                {"platform", "saccade_onnx"},
                {"inputs", tensors(model.inputs())},
                {"outputs", tensors(model.outputs())}};
  if (served.predicts()) metadata["parameters"]["task"] = to_string(model.task());
  return metadata;
}

class Api {
 public:
  Api(const std::vector<std::unique_ptr<ServedModel>>& models, const ApiOptions& options)
      : models_(models), options_(options) {}

  std::vector<HttpRoute> routes() const {
    std::vector<HttpRoute> routes;
    const auto get = [&](std::string path, std::function<HttpReply(const HttpRequest&)> reply) {
      routes.push_back({.path = std::move(path), .reply = std::move(reply)});
    };
    const auto empty = [](const HttpRequest& /*request*/) { return HttpReply{}; };
    get("/v2/health/live", empty);
    get("/v2/health/ready", empty);
    get("/v2", [](const HttpRequest& /*request*/) {
      return json_reply(200, {{"name", "saccade"}, {"version", version()}, {"extensions", {"binary_tensor_data"}}});
    });
    for (const std::string_view of : {"/v2/models/{}", "/v2/models/{}/versions/{}"}) {
      const std::string path(of);
      get(path, [api = *this](const HttpRequest& request) {
        return api.with_model(request, [](const ServedModel& model) { return json_reply(200, metadata_of(model)); });
      });
      get(path + "/ready", [api = *this](const HttpRequest& request) {
        return api.with_model(request, [](const ServedModel& /*model*/) { return HttpReply{}; });
      });
      routes.push_back(
          {.path = path + "/infer",
           .method = "POST",
           .respond = [api = *this](HttpRequest request,
                                    HttpRespond respond) { api.infer(std::move(request), std::move(respond)); },
           .most_bytes = options_.most_bytes});
    }
    routes.push_back(
        {.path = "/predict/{}",
         .method = "POST",
         .respond = [api = *this](HttpRequest request,
                                  HttpRespond respond) { api.predict(std::move(request), std::move(respond)); },
         .most_bytes = options_.most_bytes});
    return routes;
  }

 private:
  /// Null if there is no such model or version.
  ServedModel* find(const HttpRequest& request) const {
    const auto found = std::ranges::find_if(
        models_, [&](const auto& served) { return served->model().name() == request.names.at(0); });
    const bool is_known = request.names.size() < 2 || request.names[1] == "1";
    return found == models_.end() || !is_known ? nullptr : found->get();
  }

  HttpReply unknown(const HttpRequest& request) const {
    std::string names;
    for (const auto& served : models_) names += (names.empty() ? "'" : ", '") + served->model().name() + "'";
    const std::string version = request.names.size() < 2 ? "" : " of version '" + request.names[1] + "'";
    return error_reply(404, fmt::format("there is no model '{}'{}; the models are {}, of version '1'",
                                        request.names.at(0), version, names));
  }

  template <typename Reply>
  HttpReply with_model(const HttpRequest& request, const Reply& reply) const {
    const ServedModel* model = find(request);
    return model == nullptr ? unknown(request) : reply(*model);
  }

  void infer(HttpRequest request, HttpRespond respond) const {
    ServedModel* served = find(request);
    if (served == nullptr) return respond(unknown(request));
    const auto kept = std::make_shared<HttpRequest>(std::move(request));
    const Clock::time_point arrived = Clock::now();
    served->submit({.run =
                        [served, kept, respond, arrived](ServedModel::Execution& execution) {
                          const InferRequest parsed =
                              parse_infer_request(signature_of(served->model()), std::move(*kept));
                          if (parsed.timeout && Clock::now() > arrived + *parsed.timeout) {
                            respond(refusal_reply(*served, Refusal::kLate));
                            return false;
                          }
                          respond(infer_reply(signature_of(served->model()), parsed, execution.run(parsed.inputs)));
                          return true;
                        },
                    .refuse = [served, respond](Refusal reason) { respond(refusal_reply(*served, reason)); },
                    .fail = [respond](const Error& error) { respond(error_reply(error)); }});
  }

  void predict(HttpRequest request, HttpRespond respond) const {
    ServedModel* served = find(request);
    if (served == nullptr) return respond(unknown(request));
    if (!served->predicts())
      return respond(error_reply(400, fmt::format("'{}' makes no predictions: its input is no image, or it has no card",
                                                  served->model().name())));
    const auto kept = std::make_shared<HttpRequest>(std::move(request));
    served->submit({.run =
                        [kept, respond, most = options_.most_pixels](ServedModel::Execution& execution) {
                          respond(prediction(*kept, most, execution));
                          return true;
                        },
                    .refuse = [served, respond](Refusal reason) { respond(refusal_reply(*served, reason)); },
                    .fail = [respond](const Error& error) { respond(error_reply(error)); }});
  }

  static HttpReply prediction(const HttpRequest& request, std::int64_t most_pixels, ServedModel::Execution& execution) {
    const std::string_view file = image_in(request);
    const Image image = decode_image(std::span(reinterpret_cast<const std::uint8_t*>(file.data()), file.size()),
                                     PixelFormat::kRgb24, most_pixels);
    const Result& result = execution.predict(image.view());
    if (request.parameter("draw") != "1")
      return {.status = 200, .type = "application/json", .body = to_json(result), .stream = nullptr, .headers = {}};
    return {.status = 200,
            .type = "image/jpeg",
            .body = encode_jpeg(draw(image.view(), std::span(&result, 1))),
            .stream = nullptr,
            .headers = {}};
  }

  const std::vector<std::unique_ptr<ServedModel>>& models_;
  ApiOptions options_;
};

}  // namespace

std::vector<HttpRoute> routes(const std::vector<std::unique_ptr<ServedModel>>& models, const ApiOptions& options) {
  return Api(models, options).routes();
}

}  // namespace saccade::serve
