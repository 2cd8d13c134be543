#include "grpc/service.hpp"
#include "grpc/text.hpp"

// The calls of InferenceService by which clients register shared memory.
namespace saccade::serve {

void InferenceService::add_memory_methods() {
  using Self = InferenceService;
  add("SystemSharedMemoryStatus", &Self::system_shared_memory_status);
  add("SystemSharedMemoryRegister", &Self::system_shared_memory_register);
  add("SystemSharedMemoryUnregister", &Self::system_shared_memory_unregister);
  add("CudaSharedMemoryStatus", &Self::cuda_shared_memory_status);
  add("CudaSharedMemoryRegister", &Self::cuda_shared_memory_register);
  add("CudaSharedMemoryUnregister", &Self::cuda_shared_memory_unregister);
}

grpc::Status InferenceService::system_shared_memory_status(const inference::SystemSharedMemoryStatusRequest& request,
                                                           inference::SystemSharedMemoryStatusResponse& response) {
  for (const RegionInfo& region : regions_.list(RegionKind::kSystem, request.name())) {
    const std::string name = text_of(region.name);
    auto& status = (*response.mutable_regions())[name];
    status.set_name(name);
    status.set_key(text_of(region.key));
    status.set_offset(region.offset);
    status.set_byte_size(region.bytes);
  }
  return grpc::Status::OK;
}

grpc::Status InferenceService::system_shared_memory_register(
    const inference::SystemSharedMemoryRegisterRequest& request,
    inference::SystemSharedMemoryRegisterResponse& /*response*/) {
  regions_.add(
      {.name = request.name(), .key = request.key(), .offset = request.offset(), .bytes = request.byte_size()});
  return grpc::Status::OK;
}

grpc::Status InferenceService::system_shared_memory_unregister(
    const inference::SystemSharedMemoryUnregisterRequest& request,
    inference::SystemSharedMemoryUnregisterResponse& /*response*/) {
  regions_.remove(RegionKind::kSystem, request.name());
  return grpc::Status::OK;
}

grpc::Status InferenceService::cuda_shared_memory_status(const inference::CudaSharedMemoryStatusRequest& request,
                                                         inference::CudaSharedMemoryStatusResponse& response) {
  for (const RegionInfo& region : registered(regions_, RegionKind::kCuda, request.name())) {
    const std::string name = text_of(region.name);
    auto& status = (*response.mutable_regions())[name];
    status.set_name(name);
    status.set_device_id(static_cast<std::uint64_t>(region.gpu.value()));
    status.set_byte_size(region.bytes);
  }
  return grpc::Status::OK;
}

grpc::Status InferenceService::cuda_shared_memory_register(const inference::CudaSharedMemoryRegisterRequest& request,
                                                           inference::CudaSharedMemoryRegisterResponse& /*response*/) {
  regions_.add({.name = request.name(), .bytes = request.byte_size(), .gpu = gpu_ordinal(request.device_id())},
               request.raw_handle());
  return grpc::Status::OK;
}

grpc::Status InferenceService::cuda_shared_memory_unregister(
    const inference::CudaSharedMemoryUnregisterRequest& request,
    inference::CudaSharedMemoryUnregisterResponse& /*response*/) {
  unregister(regions_, RegionKind::kCuda, request.name());
  return grpc::Status::OK;
}

}  // namespace saccade::serve
