#include "cuda/cudnn.hpp"

#include <map>
#include <optional>

#include "base/error.hpp"
#include "cuda/optional_library.hpp"

namespace saccade::cuda {
namespace {

std::optional<CudnnApi> resolve() {
  const OptionalLibrary library("libcudnn.so.9");
  CudnnApi api;
#define SACCADE_RESOLVE(name, parameters) \
  if (!library.find(api.name, #name)) return {};
  SACCADE_CUDNN(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  if (!library.find(api.cudnnGetErrorString, "cudnnGetErrorString")) return {};
  return api;
}

}  // namespace

const CudnnApi* cudnn() {
  static const std::optional<CudnnApi> api = resolve();
  return api ? &*api : nullptr;
}

void check_cudnn(cudnnStatus_t result, std::string_view call) {
  if (result == CUDNN_STATUS_SUCCESS) return;
  fail(ErrorCode::kDevice, "{} failed with {}", call.substr(0, call.find('(')), cudnn()->cudnnGetErrorString(result));
}

CudnnHandle::CudnnHandle(int ordinal, CUstream stream) {
  static std::mutex mutex;
  // They live as long as the process: destroying one after the driver is gone would crash.
  static auto& handles = *new std::map<int, cudnnHandle_t>;
  lock_ = std::unique_lock(mutex);
  handle_ = handles[ordinal];
  if (handle_ == nullptr) {
    SACCADE_CUDNN_CALL(cudnnCreate(&handle_));
    handles[ordinal] = handle_;
  }
  SACCADE_CUDNN_CALL(cudnnSetStream(handle_, stream));
}

}  // namespace saccade::cuda
