#include "cuda/cudnn.hpp"

#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
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

/// Handles by GPU; they live as long as the process: destroying one after the driver is gone would crash.
struct Handles {
  std::mutex mutex;
  std::map<int, cudnnHandle_t> made;  // null: cuDNN can't use the GPU

  /// Of the GPU whose context is current.
  cudnnHandle_t of(int ordinal) {
    const auto [place, is_new] = made.emplace(ordinal, nullptr);
    if (!is_new) return place->second;
    const cudnnStatus_t result = cudnn()->cudnnCreate(&place->second);
    if (result == CUDNN_STATUS_SUCCESS) return place->second;
    log(LogLevel::kInfo, "cuDNN can't use cuda:{} ({}): its tactics are not tried", ordinal,
        cudnn()->cudnnGetErrorString(result));
    return place->second = nullptr;
  }
};

Handles& handles() {
  static auto& handles = *new Handles;
  return handles;
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

bool cudnn_runs(int ordinal) {
  if (cudnn() == nullptr) return false;
  const std::scoped_lock lock(handles().mutex);
  return handles().of(ordinal) != nullptr;
}

CudnnHandle::CudnnHandle(int ordinal, CUstream stream) : lock_(handles().mutex), handle_(handles().of(ordinal)) {
  SACCADE_CUDNN_CALL(cudnnSetStream(handle_, stream));
}

}  // namespace saccade::cuda
