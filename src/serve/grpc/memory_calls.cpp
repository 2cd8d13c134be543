#include "grpc/service.hpp"
#include "grpc/text.hpp"

// The calls of InferenceService by which clients register shared memory.
namespace saccade::serve {

InferenceService::Reactor* InferenceService::SystemSharedMemoryStatus(
    Context* context, const inference::SystemSharedMemoryStatusRequest* request,
    inference::SystemSharedMemoryStatusResponse* response) {
  return reply(*context, [&] {
    for (const RegionInfo& region : regions_.list(RegionKind::kSystem, request->name())) {
      const std::string name = text_of(region.name);
      auto& status = (*response->mutable_regions())[name];
      status.set_name(name);
      status.set_key(text_of(region.key));
      status.set_offset(region.offset);
      status.set_byte_size(region.bytes);
    }
    return grpc::Status::OK;
  });
}

InferenceService::Reactor* InferenceService::SystemSharedMemoryRegister(
    Context* context, const inference::SystemSharedMemoryRegisterRequest* request,
    inference::SystemSharedMemoryRegisterResponse* /*response*/) {
  return reply(*context, [&] {
    regions_.add(
        {.name = request->name(), .key = request->key(), .offset = request->offset(), .bytes = request->byte_size()});
    return grpc::Status::OK;
  });
}

InferenceService::Reactor* InferenceService::SystemSharedMemoryUnregister(
    Context* context, const inference::SystemSharedMemoryUnregisterRequest* request,
    inference::SystemSharedMemoryUnregisterResponse* /*response*/) {
  return reply(*context, [&] {
    regions_.remove(RegionKind::kSystem, request->name());
    return grpc::Status::OK;
  });
}

InferenceService::Reactor* InferenceService::CudaSharedMemoryStatus(
    Context* context, const inference::CudaSharedMemoryStatusRequest* request,
    inference::CudaSharedMemoryStatusResponse* response) {
  return reply(*context, [&] {
    for (const RegionInfo& region : registered(regions_, RegionKind::kCuda, request->name())) {
      const std::string name = text_of(region.name);
      auto& status = (*response->mutable_regions())[name];
      status.set_name(name);
      status.set_device_id(static_cast<std::uint64_t>(region.gpu.value()));
      status.set_byte_size(region.bytes);
    }
    return grpc::Status::OK;
  });
}

InferenceService::Reactor* InferenceService::CudaSharedMemoryRegister(
    Context* context, const inference::CudaSharedMemoryRegisterRequest* request,
    inference::CudaSharedMemoryRegisterResponse* /*response*/) {
  return reply(*context, [&] {
    regions_.add({.name = request->name(), .bytes = request->byte_size(), .gpu = gpu_ordinal(request->device_id())},
                 request->raw_handle());
    return grpc::Status::OK;
  });
}

InferenceService::Reactor* InferenceService::CudaSharedMemoryUnregister(
    Context* context, const inference::CudaSharedMemoryUnregisterRequest* request,
    inference::CudaSharedMemoryUnregisterResponse* /*response*/) {
  return reply(*context, [&] {
    unregister(regions_, RegionKind::kCuda, request->name());
    return grpc::Status::OK;
  });
}

}  // namespace saccade::serve
