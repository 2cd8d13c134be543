#pragma once

#include <grpcpp/impl/service_type.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "grpc/call.hpp"
#include "grpc/in_flight.hpp"
#include "grpc/infer_call.hpp"
#include "grpc/status.hpp"
#include "grpc/uploads.hpp"
#include "grpc_predict_v2.grpc.pb.h"
#include "serve/grpc_module.hpp"

namespace saccade::serve {

/// The Open Inference Protocol for MODELS. No call waits on a thread of gRPC, and no message is read without the token.
class InferenceService final : public grpc::Service {
 public:
  /// As GrpcModule::listen. RECEIVED_BYTES tells how much has come over a connection.
  InferenceService(const GrpcOptions& options, Repository& models, MemoryRegions& regions,
                   Uploads::ReceivedBytes received_bytes);

  /// Refuses calls that come from now on, and returns once all others have their responses.
  void drain();

 private:
  using Context = grpc::CallbackServerContext;
  using Work = std::function<grpc::Status()>;
  enum class Thread {
    kOfGrpc,     ///< what does not wait
    kOfControl,  ///< what takes as long as a model is compiled
  };

  grpc::Status server_live(const inference::ServerLiveRequest& request, inference::ServerLiveResponse& response);
  grpc::Status server_ready(const inference::ServerReadyRequest& request, inference::ServerReadyResponse& response);
  grpc::Status model_ready(const inference::ModelReadyRequest& request, inference::ModelReadyResponse& response);
  grpc::Status server_metadata(const inference::ServerMetadataRequest& request,
                               inference::ServerMetadataResponse& response);
  grpc::Status model_metadata(const inference::ModelMetadataRequest& request,
                              inference::ModelMetadataResponse& response);
  grpc::Status model_config(const inference::ModelConfigRequest& request, inference::ModelConfigResponse& response);
  grpc::Status repository_index(const inference::RepositoryIndexRequest& request,
                                inference::RepositoryIndexResponse& response);
  grpc::Status repository_model_load(const inference::RepositoryModelLoadRequest& request,
                                     inference::RepositoryModelLoadResponse& response);
  grpc::Status repository_model_unload(const inference::RepositoryModelUnloadRequest& request,
                                       inference::RepositoryModelUnloadResponse& response);
  grpc::Status system_shared_memory_status(const inference::SystemSharedMemoryStatusRequest& request,
                                           inference::SystemSharedMemoryStatusResponse& response);
  grpc::Status system_shared_memory_register(const inference::SystemSharedMemoryRegisterRequest& request,
                                             inference::SystemSharedMemoryRegisterResponse& response);
  grpc::Status system_shared_memory_unregister(const inference::SystemSharedMemoryUnregisterRequest& request,
                                               inference::SystemSharedMemoryUnregisterResponse& response);
  grpc::Status cuda_shared_memory_status(const inference::CudaSharedMemoryStatusRequest& request,
                                         inference::CudaSharedMemoryStatusResponse& response);
  grpc::Status cuda_shared_memory_register(const inference::CudaSharedMemoryRegisterRequest& request,
                                           inference::CudaSharedMemoryRegisterResponse& response);
  grpc::Status cuda_shared_memory_unregister(const inference::CudaSharedMemoryUnregisterRequest& request,
                                             inference::CudaSharedMemoryUnregisterResponse& response);
  void model_infer(InferCall& call, grpc::ByteBuffer& message);

  /// The method NAME, whose calls CREATE makes.
  void add_method(const std::string& name, std::function<std::unique_ptr<Call>(Context& context)> create);
  /// The method NAME, whose message and response are small: REPLY has its status, and sets the response.
  template <typename Request, typename Response>
  void add(const std::string& name, grpc::Status (InferenceService::*reply)(const Request&, Response&),
           Thread thread = Thread::kOfGrpc);
  void add_memory_methods();

  grpc::Status check(const Context& context);
  grpc::Status unknown(std::string_view name, std::string_view version) const;
  grpc::Status submit(InferCall& call);
  void reply(Call& call, const Work& work);
  void control(Call& call, Work work);

  Repository& models_;
  MemoryRegions& regions_;
  std::string token_;
  AccessLog* access_log_;
  InFlight in_flight_;
  std::atomic<bool> is_ending_{false};
  std::atomic<std::size_t> refused_{0};  ///< since then
  std::deque<std::string> paths_;        ///< of the methods
  Uploads uploads_;
  Workers controls_{1};  ///< the repository changes one model at a time
};

/// That a message is no valid REQUEST.
grpc::Status invalid_message(const google::protobuf::Descriptor& request);

template <typename Request, typename Response>
void InferenceService::add(const std::string& name, grpc::Status (InferenceService::*reply)(const Request&, Response&),
                           Thread thread) {
  const SmallCall::Run run = [this, reply, thread](SmallCall& call, grpc::ByteBuffer& message) {
    const auto request = std::make_shared<Request>();
    if (!grpc::SerializationTraits<Request>::Deserialize(&message, request.get()).ok())
      return call.finish(invalid_message(*Request::descriptor()));
    const Work work = [this, reply, request, &call] {
      Response response;
      grpc::Status status = (this->*reply)(*request, response);
      call.set_response(response);
      return status;
    };
    thread == Thread::kOfControl ? control(call, work) : this->reply(call, work);
  };
  add_method(name, [this, run](Context& context) { return std::make_unique<SmallCall>(context, uploads_, run); });
}

}  // namespace saccade::serve
