#include "nvdec/nvcuvid.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "base/error.hpp"

namespace saccade::nvdec {
namespace {

cuda::NvcuvidApi resolve() {
  void* library = dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail(ErrorCode::kNotFound,
         "libnvcuvid.so.1 is missing ({}): install the video part of NVIDIA's driver (Debian: libnvcuvid1; containers: "
         "NVIDIA_DRIVER_CAPABILITIES=video), or use --decode cpu",
         dlerror());
  cuda::NvcuvidApi api;
#define SACCADE_RESOLVE(name, parameters)                                 \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr)                                                \
    fail(ErrorCode::kDevice, "libnvcuvid.so.1 is too old: it has no {}; update the driver", #name);
  SACCADE_NVCUVID(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  return api;
}

}  // namespace

const cuda::NvcuvidApi& nvcuvid() {
  static const cuda::NvcuvidApi api = resolve();  // a failure is not cached
  return api;
}

cuda::CUcontext context_of(int device) {
  static std::mutex mutex;
  static std::map<int, cuda::CUcontext> contexts;
  const std::scoped_lock lock(mutex);
  if (const auto found = contexts.find(device); found != contexts.end()) return found->second;
  int count = 0;
  SACCADE_CUDA(cuDeviceGetCount(&count));
  if (device < 0 || device >= count)
    fail(ErrorCode::kNotFound, "there is no cuda:{}: {} GPU{} visible (see nvidia-smi and CUDA_VISIBLE_DEVICES)",
         device, count, count == 1 ? " is" : "s are");
  cuda::CUdevice handle = 0;
  SACCADE_CUDA(cuDeviceGet(&handle, device));
  cuda::CUcontext context = nullptr;
  SACCADE_CUDA(cuDevicePrimaryCtxRetain(&context, handle));
  return contexts.emplace(device, context).first->second;
}

void make_current(int device) { SACCADE_CUDA(cuCtxSetCurrent(context_of(device))); }

}  // namespace saccade::nvdec
