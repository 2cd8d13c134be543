#include "cuda/driver/driver.hpp"

#include <dlfcn.h>

#include <string>

#include "base/error.hpp"

namespace saccade::cuda {
namespace {

// First version with cuLaunchKernelEx, thread-local capture and lazy loading as used here.
constexpr int kOldestDriver = 12000;

struct Loaded {
  DriverApi api;
  int version = 0;
};

/// Resolves all entry points before the first call.
DriverApi resolve_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail(ErrorCode::kNotFound, "there is no CUDA driver ({}): install NVIDIA's driver, or use --device cpu", dlerror());
  DriverApi api;
#define SACCADE_RESOLVE(name, parameters)                                 \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr)                                                \
    fail(ErrorCode::kDevice, "the CUDA driver is too old: it has no {}; install one for CUDA 12 or newer", #name);
  SACCADE_CUDA_DRIVER(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  return api;
}

std::string_view remedy(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY: return "free memory on the device, choose a smaller batch, or another device";
    case CUDA_ERROR_NO_DEVICE: return "no GPU is visible; see nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu";
    case CUDA_ERROR_INVALID_DEVICE: return "there are fewer devices; see nvidia-smi";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: return "the driver's library and kernel module differ: reboot";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX: return "the kernel is for another GPU: compile the plan again";
    case CUDA_ERROR_DEVICE_UNAVAILABLE: return "another process holds the device, or it is being reset; see nvidia-smi";
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_UNKNOWN:
      return "the device may be lost: see nvidia-smi and the system's log, and start the process again";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return "the device can't be used by this process any more: start it again";
    case CUDA_ERROR_ECC_UNCORRECTABLE: return "the device's memory failed: it has to be reset or replaced";
    default: return "";
  }
}

std::string describe(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "an unknown error";
  if (api.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "";
  const std::string_view advice = remedy(result);
  return fmt::format("{} ({}){}{}", name, text, advice.empty() ? "" : ": ", advice);
}

void check_with(const DriverApi& api, CUresult result, std::string_view call) {
  if (result == CUDA_SUCCESS) return;
  const ErrorCode code = result == CUDA_ERROR_NO_DEVICE ? ErrorCode::kNotFound : ErrorCode::kDevice;
  fail(code, "{} failed with {}", call.substr(0, call.find('(')), describe(api, result));
}

const Loaded& loaded() {
  // A failure is not cached: the next call tries again.
  static const Loaded loaded = [] {
    Loaded made{.api = resolve_driver()};
    check_with(made.api, made.api.cuInit(0), "cuInit");
    check_with(made.api, made.api.cuDriverGetVersion(&made.version), "cuDriverGetVersion");
    if (made.version < kOldestDriver)
      fail(ErrorCode::kDevice, "the CUDA driver is too old: it is for CUDA {}.{}; install one for CUDA {} or newer",
           made.version / 1000, made.version % 1000 / 10, kOldestDriver / 1000);
    return made;
  }();
  return loaded;
}

}  // namespace

const DriverApi& driver() { return loaded().api; }

int driver_version() { return loaded().version; }

void check(CUresult result, std::string_view call) { check_with(driver(), result, call); }

}  // namespace saccade::cuda
