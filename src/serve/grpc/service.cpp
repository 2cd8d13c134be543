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

grpc::Status invalid_message(const google::protobuf::Descriptor& request) {
  return {grpc::StatusCode::INVALID_ARGUMENT, "the message is not a valid " + request.name()};
}

InferenceService::InferenceService(const GrpcOptions& options, Repository& models, MemoryRegions& regions,
                                   Uploads::ReceivedBytes received_bytes)
    : models_(models),
      regions_(regions),
      token_(options.token),
      access_log_(options.access_log),
      in_flight_(options.most_pending_bytes),
      uploads_(options.most_bytes, std::move(received_bytes)) {
  using Self = InferenceService;
  add("ServerLive", &Self::server_live);
  add("ServerReady", &Self::server_ready);
  add("ModelReady", &Self::model_ready);
  add("ServerMetadata", &Self::server_metadata);
  add("ModelMetadata", &Self::model_metadata);
  add("ModelConfig", &Self::model_config);
  add("RepositoryIndex", &Self::repository_index);
  add("RepositoryModelLoad", &Self::repository_model_load, Thread::kOfControl);
  add("RepositoryModelUnload", &Self::repository_model_unload, Thread::kOfControl);
  add_memory_methods();
  const InferCall::Run run = [this](InferCall& call, grpc::ByteBuffer& message) { model_infer(call, message); };
  add_method("ModelInfer", [this, run](Context& context) {
    return std::make_unique<InferCall>(context, uploads_, run, in_flight_, access_log_);
  });
}

void InferenceService::add_method(const std::string& name,
                                  std::function<std::unique_ptr<Call>(Context& context)> create) {
  paths_.push_back(fmt::format("/{}/{}", inference::GRPCInferenceService::service_full_name(), name));
  AddMethod(
      new grpc::internal::RpcServiceMethod(paths_.back().c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  const auto begin = [this, create = std::move(create)](Context* context) {
    std::unique_ptr<Call> call = create(*context);
    const grpc::Status status = check(*context);
    status.ok() ? call->start() : call->finish(status);
    return call.release();
  };
  MarkMethodRawCallback(static_cast<int>(paths_.size()) - 1,
                        new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(begin));
}

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

grpc::Status InferenceService::server_live(const inference::ServerLiveRequest& /*request*/,
                                           inference::ServerLiveResponse& response) {
  response.set_live(true);
  return grpc::Status::OK;
}

grpc::Status InferenceService::server_ready(const inference::ServerReadyRequest& /*request*/,
                                            inference::ServerReadyResponse& response) {
  response.set_ready(true);
  return grpc::Status::OK;
}

grpc::Status InferenceService::model_ready(const inference::ModelReadyRequest& request,
                                           inference::ModelReadyResponse& response) {
  response.set_ready(with_version(models_, request.name(), request.version(), [](ServedModel& /*model*/) {}));
  return grpc::Status::OK;
}

grpc::Status InferenceService::server_metadata(const inference::ServerMetadataRequest& /*request*/,
                                               inference::ServerMetadataResponse& response) {
  response.set_name(std::string(kServer));
  response.set_version(version());
  for (const char* extension : {"model_configuration", "model_repository"}) response.add_extensions(extension);
  for (const RegionKind kind : {RegionKind::kSystem, RegionKind::kCuda})
    if (regions_.permits(kind)) response.add_extensions(extension_of(kind));
  return grpc::Status::OK;
}

grpc::Status InferenceService::model_metadata(const inference::ModelMetadataRequest& request,
                                              inference::ModelMetadataResponse& response) {
  const bool is_known =
      with_version(models_, request.name(), request.version(), [&](ServedModel& model) { describe(model, response); });
  return is_known ? grpc::Status::OK : unknown(request.name(), request.version());
}

grpc::Status InferenceService::model_config(const inference::ModelConfigRequest& request,
                                            inference::ModelConfigResponse& response) {
  const bool is_known = with_version(models_, request.name(), request.version(),
                                     [&](ServedModel& model) { describe(model, *response.mutable_config()); });
  return is_known ? grpc::Status::OK : unknown(request.name(), request.version());
}

void InferenceService::model_infer(InferCall& call, grpc::ByteBuffer& message) {
  // The server may be ending since the headers came.
  grpc::Status status = call.begin(message) ? check(call.context()) : kNoRoom;
  if (status.ok() && has_too_many_parts(message)) status = kTooManyParts;
  if (status.ok() && !call.read(message)) status = invalid_message(*inference::ModelInferRequest::descriptor());
  if (status.ok()) status = status_of_work([&] { return submit(call); });
  if (!status.ok()) call.finish(status);
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

grpc::Status InferenceService::repository_index(const inference::RepositoryIndexRequest& request,
                                                inference::RepositoryIndexResponse& response) {
  for (const Repository::Entry& entry : models_.index()) {
    if (request.ready() && !entry.is_loaded) continue;
    auto& model = *response.add_models();
    model.set_name(text_of(entry.name));
    model.set_version(std::string(kVersion));
    model.set_state(entry.is_loaded ? "READY" : "UNAVAILABLE");
    if (!entry.is_loaded) model.set_reason(std::string(kNotLoaded));
  }
  return grpc::Status::OK;
}

grpc::Status InferenceService::repository_model_load(const inference::RepositoryModelLoadRequest& request,
                                                     inference::RepositoryModelLoadResponse& /*response*/) {
  if (!request.parameters().empty()) refuse_parameter(request.parameters().begin()->first);
  models_.load(request.model_name());
  return grpc::Status::OK;
}

grpc::Status InferenceService::repository_model_unload(const inference::RepositoryModelUnloadRequest& request,
                                                       inference::RepositoryModelUnloadResponse& /*response*/) {
  models_.unload(request.model_name());
  return grpc::Status::OK;
}

/// Finishes CALL with the status of WORK.
void InferenceService::reply(Call& call, const Work& work) {
  const grpc::Status access = check(call.context());
  call.finish(access.ok() ? status_of_work(work) : access);
}

/// The same, with WORK on a thread of its own.
void InferenceService::control(Call& call, Work work) {
  const bool has_begun = in_flight_.begin(0);
  const grpc::Status access = has_begun ? check(call.context()) : kNoRoom;
  if (!access.ok()) {
    if (has_begun) end_control(in_flight_);
    return call.finish(access);
  }
  controls_.add([this, &call, work = std::move(work)] {
    const TraceContext trace = trace_of(call.context());
    const LogTraceScope scope(trace.for_log());
    const grpc::Status status =
        status_of_work([&] { return call.context().IsCancelled() ? grpc::Status::CANCELLED : work(); });
    end_control(in_flight_);
    call.finish(status);
  });
}

}  // namespace saccade::serve
