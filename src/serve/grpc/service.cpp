#include "grpc/service.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "grpc/access.hpp"
#include "grpc/descriptions.hpp"
#include "grpc/infer_message.hpp"
#include "grpc/message_parts.hpp"
#include "grpc/text.hpp"
#include "saccade/version.hpp"
#include "serve/parameters.hpp"
#include "serve/protocol.hpp"

namespace saccade::serve {

using Reactor = InferenceService::Reactor;

namespace {

const grpc::Status kTooManyParts(
    grpc::StatusCode::INVALID_ARGUMENT,
    fmt::format("the message has more than {} tensors, parameters, strings and unknown fields", kMostParts));
const grpc::Status kNoRoom(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many bytes are pending: come again later");

void end_control(InFlight& in_flight) {
  in_flight.respond(0, 0);
  in_flight.end(0);
}

}  // namespace

InferenceService::InferenceService(const GrpcOptions& options, Repository& models, MemoryRegions& regions)
    : models_(models),
      regions_(regions),
      token_(options.token),
      access_log_(options.access_log),
      in_flight_(options.most_pending_bytes) {}

void InferenceService::drain() {
  constexpr std::chrono::seconds kSlowestRead{10};
  is_ending_ = true;
  in_flight_.wait(kSlowestRead);
  // Once gRPC shuts down, it cancels calls that come in. Clients that are refused before stop sending.
  constexpr std::chrono::milliseconds kPause{100};
  constexpr int kMostPauses = 10;
  for (int i = 0; i < kMostPauses; ++i) {
    const std::size_t before = refused_;
    std::this_thread::sleep_for(kPause);
    if (refused_ == before) return;
  }
}

grpc::Status InferenceService::check(const Context& context) {
  if (!is_ending_) return check_access(context.client_metadata(), token_);
  ++refused_;
  return status_of(Refusal::kStopped);
}

grpc::Status InferenceService::unknown(std::string_view name, std::string_view version) const {
  return {grpc::StatusCode::NOT_FOUND, unknown_model(models_, name, version)};
}

Reactor* InferenceService::ServerLive(Context* context, const inference::ServerLiveRequest* /*request*/,
                                      inference::ServerLiveResponse* response) {
  return reply(*context, [&] {
    response->set_live(true);
    return grpc::Status::OK;
  });
}

Reactor* InferenceService::ServerReady(Context* context, const inference::ServerReadyRequest* /*request*/,
                                       inference::ServerReadyResponse* response) {
  return reply(*context, [&] {
    response->set_ready(true);
    return grpc::Status::OK;
  });
}

Reactor* InferenceService::ModelReady(Context* context, const inference::ModelReadyRequest* request,
                                      inference::ModelReadyResponse* response) {
  return reply(*context, [&] {
    response->set_ready(with_version(models_, request->name(), request->version(), [](ServedModel& /*model*/) {}));
    return grpc::Status::OK;
  });
}

Reactor* InferenceService::ServerMetadata(Context* context, const inference::ServerMetadataRequest* /*request*/,
                                          inference::ServerMetadataResponse* response) {
  return reply(*context, [&] {
    response->set_name(std::string(kServer));
    response->set_version(version());
    for (const char* extension : {"model_configuration", "model_repository"}) response->add_extensions(extension);
    for (const RegionKind kind : {RegionKind::kSystem, RegionKind::kCuda})
      if (regions_.permits(kind)) response->add_extensions(extension_of(kind));
    return grpc::Status::OK;
  });
}

Reactor* InferenceService::ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                                         inference::ModelMetadataResponse* response) {
  return reply(*context, [&] {
    const bool is_known = with_version(models_, request->name(), request->version(),
                                       [&](ServedModel& model) { describe(model, *response); });
    return is_known ? grpc::Status::OK : unknown(request->name(), request->version());
  });
}

Reactor* InferenceService::ModelConfig(Context* context, const inference::ModelConfigRequest* request,
                                       inference::ModelConfigResponse* response) {
  return reply(*context, [&] {
    const bool is_known = with_version(models_, request->name(), request->version(),
                                       [&](ServedModel& model) { describe(model, *response->mutable_config()); });
    return is_known ? grpc::Status::OK : unknown(request->name(), request->version());
  });
}

Reactor* InferenceService::ModelInfer(Context* context, const grpc::ByteBuffer* message, grpc::ByteBuffer* response) {
  auto call = std::make_unique<InferCall>(*context, *response, in_flight_, access_log_);
  grpc::Status status = call->begin(*message) ? check(*context) : kNoRoom;
  // gRPC made the buffer for this call alone. Read, it need not stay in memory beside the message.
  auto& buffer = const_cast<grpc::ByteBuffer&>(*message);
  if (status.ok() && has_too_many_parts(buffer)) status = kTooManyParts;
  if (status.ok() && !call->read(buffer))
    status = {grpc::StatusCode::INVALID_ARGUMENT, "the message is not a valid ModelInferRequest"};
  if (status.ok()) status = status_of_work([&] { return submit(*call); });
  if (!status.ok()) call->finish(status);
  return call.release();
}

/// Hands CALL to a model; what is not OK, it has yet to be finished with.
grpc::Status InferenceService::submit(InferCall& call) {
  const inference::ModelInferRequest& request = call.request();
  call.log();
  const bool is_known = with_version(models_, request.model_name(), request.model_version(), [&](ServedModel& model) {
    using enum ServedModel::Preparation;
    model.submit(message_job(model.signature(), call, regions_), is_short(request) ? kShort : kLong);
  });
  return is_known ? grpc::Status::OK : unknown(request.model_name(), request.model_version());
}

Reactor* InferenceService::RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                                           inference::RepositoryIndexResponse* response) {
  return reply(*context, [&] {
    for (const Repository::Entry& entry : models_.index()) {
      if (request->ready() && !entry.is_loaded) continue;
      auto& model = *response->add_models();
      model.set_name(text_of(entry.name));
      model.set_version(std::string(kVersion));
      model.set_state(entry.is_loaded ? "READY" : "UNAVAILABLE");
      if (!entry.is_loaded) model.set_reason(std::string(kNotLoaded));
    }
    return grpc::Status::OK;
  });
}

Reactor* InferenceService::RepositoryModelLoad(Context* context, const inference::RepositoryModelLoadRequest* request,
                                               inference::RepositoryModelLoadResponse* /*response*/) {
  return control(*context, request->model_name(), [this, request](const std::string& name) {
    if (!request->parameters().empty()) refuse_parameter(request->parameters().begin()->first);
    models_.load(name);
  });
}

Reactor* InferenceService::RepositoryModelUnload(Context* context,
                                                 const inference::RepositoryModelUnloadRequest* request,
                                                 inference::RepositoryModelUnloadResponse* /*response*/) {
  return control(*context, request->model_name(), [this](const std::string& name) { models_.unload(name); });
}

/// Calls CHANGE, which takes as long as a model is compiled, on a thread of its own.
Reactor* InferenceService::control(Context& context, const std::string& name,
                                   std::function<void(const std::string&)> change) {
  Reactor* reactor = context.DefaultReactor();
  const bool has_begun = in_flight_.begin(0);
  const grpc::Status access = has_begun ? check(context) : kNoRoom;
  if (!access.ok()) {
    if (has_begun) end_control(in_flight_);
    reactor->Finish(access);
    return reactor;
  }
  controls_.add([this, reactor, &context, name, change = std::move(change)] {
    const TraceContext trace = trace_of(context);
    const LogTraceScope scope(trace.for_log());
    const grpc::Status status = status_of_work([&] {
      if (context.IsCancelled()) return grpc::Status::CANCELLED;
      change(name);
      return grpc::Status::OK;
    });
    end_control(in_flight_);
    reactor->Finish(status);
  });
  return reactor;
}

}  // namespace saccade::serve
