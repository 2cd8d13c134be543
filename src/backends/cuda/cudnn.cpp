#include "cuda/cudnn.hpp"

#include <dlfcn.h>

#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"

namespace saccade::cuda {
namespace {

/// Every pointer that is used; nothing, with a word in the log, where one is missing.
std::optional<CudnnApi> resolve() {
  void* library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    log(LogLevel::kInfo, "cuDNN is not installed ({}): its convolutions are not tried", dlerror());
    return {};
  }
  CudnnApi api;
  const auto find = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, name));
    if (pointer == nullptr) log(LogLevel::kInfo, "cuDNN has no {}: its convolutions are not tried", name);
    return pointer != nullptr;
  };
#define SACCADE_RESOLVE(name, parameters) \
  if (!find(api.name, #name)) return {};
  SACCADE_CUDNN(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  if (!find(api.cudnnGetErrorString, "cudnnGetErrorString")) return {};
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
