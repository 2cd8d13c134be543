#pragma once

#include <functional>
#include <string>

#include "grpc/in_flight.hpp"
#include "grpc/infer_call.hpp"
#include "grpc/status.hpp"
#include "grpc_predict_v2.grpc.pb.h"
#include "serve/grpc_module.hpp"

namespace saccade::serve {

/// The Open Inference Protocol for MODELS. No call waits on a thread of gRPC.
class InferenceService final : public inference::GRPCInferenceService::WithRawCallbackMethod_ModelInfer<
                                   inference::GRPCInferenceService::CallbackService> {
 public:
  /// As GrpcModule::listen.
  InferenceService(const GrpcOptions& options, Repository& models, MemoryRegions& regions);

  /// Refuses calls that come from now on, and returns once all others have their responses.
  void drain();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* ServerLive(Context* context, const inference::ServerLiveRequest* request,
                      inference::ServerLiveResponse* response) override;
  Reactor* ServerReady(Context* context, const inference::ServerReadyRequest* request,
                       inference::ServerReadyResponse* response) override;
  Reactor* ModelReady(Context* context, const inference::ModelReadyRequest* request,
                      inference::ModelReadyResponse* response) override;
  Reactor* ServerMetadata(Context* context, const inference::ServerMetadataRequest* request,
                          inference::ServerMetadataResponse* response) override;
  Reactor* ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                         inference::ModelMetadataResponse* response) override;
  Reactor* ModelConfig(Context* context, const inference::ModelConfigRequest* request,
                       inference::ModelConfigResponse* response) override;
  /// Its messages are read here: gRPC's own reading calls those that are not valid UNIMPLEMENTED, without a reason.
  Reactor* ModelInfer(Context* context, const grpc::ByteBuffer* message, grpc::ByteBuffer* response) override;
  Reactor* RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                           inference::RepositoryIndexResponse* response) override;
  Reactor* RepositoryModelLoad(Context* context, const inference::RepositoryModelLoadRequest* request,
                               inference::RepositoryModelLoadResponse* response) override;
  Reactor* RepositoryModelUnload(Context* context, const inference::RepositoryModelUnloadRequest* request,
                                 inference::RepositoryModelUnloadResponse* response) override;
  Reactor* SystemSharedMemoryStatus(Context* context, const inference::SystemSharedMemoryStatusRequest* request,
                                    inference::SystemSharedMemoryStatusResponse* response) override;
  Reactor* SystemSharedMemoryRegister(Context* context, const inference::SystemSharedMemoryRegisterRequest* request,
                                      inference::SystemSharedMemoryRegisterResponse* response) override;
  Reactor* SystemSharedMemoryUnregister(Context* context, const inference::SystemSharedMemoryUnregisterRequest* request,
                                        inference::SystemSharedMemoryUnregisterResponse* response) override;
  Reactor* CudaSharedMemoryStatus(Context* context, const inference::CudaSharedMemoryStatusRequest* request,
                                  inference::CudaSharedMemoryStatusResponse* response) override;
  Reactor* CudaSharedMemoryRegister(Context* context, const inference::CudaSharedMemoryRegisterRequest* request,
                                    inference::CudaSharedMemoryRegisterResponse* response) override;
  Reactor* CudaSharedMemoryUnregister(Context* context, const inference::CudaSharedMemoryUnregisterRequest* request,
                                      inference::CudaSharedMemoryUnregisterResponse* response) override;

 private:
  grpc::Status check(const Context& context);
  grpc::Status unknown(std::string_view name, std::string_view version) const;
  grpc::Status submit(InferCall& call);
  /// Finishes the call with the status that WORK returns. It must not wait.
  template <typename Work>
  Reactor* reply(Context& context, const Work& work) {
    Reactor* reactor = context.DefaultReactor();
    const grpc::Status access = check(context);
    reactor->Finish(access.ok() ? status_of_work(work) : access);
    return reactor;
  }
  Reactor* control(Context& context, const std::string& name, std::function<void(const std::string&)> change);

  Repository& models_;
  MemoryRegions& regions_;
  std::string token_;
  AccessLog* access_log_;
  InFlight in_flight_;
  std::atomic<bool> is_ending_{false};
  std::atomic<std::size_t> refused_{0};  ///< since then
  Workers controls_{1};                  ///< the repository changes one model at a time
};

}  // namespace saccade::serve
