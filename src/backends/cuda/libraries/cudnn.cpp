#include "cuda/libraries/cudnn.hpp"

#include <optional>

#include "base/error.hpp"
#include "cuda/libraries/optional_library.hpp"

namespace saccade::cuda {
namespace {

std::optional<CudnnApi> resolve_cudnn() {
  const OptionalLibrary library({"libcudnn.so.9"});
  CudnnApi api;
#define SACCADE_RESOLVE(name, parameters) \
  if (!library.find(api.name, #name)) return {};
  SACCADE_CUDNN(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  if (!library.find(api.cudnnGetErrorString, "cudnnGetErrorString")) return {};
  if (!library.find(api.cudnnGetVersion, "cudnnGetVersion")) return {};
  return api;
}

LibraryHandles<cudnnHandle_t>& handles() {
  static auto& handles = *new LibraryHandles<cudnnHandle_t>;
  return handles;
}

/// The caller holds the lock of handles().
cudnnHandle_t handle_of(int ordinal) {
  return handles().of(ordinal, "cuDNN", [](cudnnHandle_t* made) -> const char* {
    const cudnnStatus_t result = cudnn()->cudnnCreate(made);
    return result == CUDNN_STATUS_SUCCESS ? nullptr : cudnn()->cudnnGetErrorString(result);
  });
}

}  // namespace

const CudnnApi* cudnn() {
  static const std::optional<CudnnApi> api = resolve_cudnn();
  return api ? &*api : nullptr;
}

void check_cudnn(cudnnStatus_t result, std::string_view call) {
  if (result == CUDNN_STATUS_SUCCESS) return;
  fail(ErrorCode::kDevice, "{} failed with {}", call.substr(0, call.find('(')), cudnn()->cudnnGetErrorString(result));
}

bool cudnn_runs(int ordinal) {
  if (cudnn() == nullptr) return false;
  const std::scoped_lock lock(handles().mutex);
  return handle_of(ordinal) != nullptr;
}

CudnnHandle::CudnnHandle(int ordinal, CUstream stream) : lock_(handles().mutex), handle_(handle_of(ordinal)) {
  SACCADE_CUDNN_CALL(cudnnSetStream(handle_, stream));
}

}  // namespace saccade::cuda
