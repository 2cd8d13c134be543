#include <cstring>

#include "calls.hpp"
#include "cuda/driver/nvml_api.hpp"
#include "nvml/emulated_gpu.hpp"

// NVML's entry points; see driver/driver.cpp. The numbers are constant: 25 % use, 3 GiB, 71.5 W.
namespace saccade::cuda {

using namespace emulator;

#pragma GCC visibility push(default)
extern "C" {
#define SACCADE_DECLARE(name, result, parameters) result name parameters;
SACCADE_NVML(SACCADE_DECLARE)
#undef SACCADE_DECLARE
}
#pragma GCC visibility pop

namespace {

nvmlDevice_t the_device() {
  static char device;
  return reinterpret_cast<nvmlDevice_t>(&device);
}

bool is_initialised = false;

/// What a call of FUNCTION about DEVICE returns if it does not succeed.
nvmlReturn_t begin(const char* function, nvmlDevice_t device) {
  if (const int injected = note_call(function); injected != 0) return static_cast<nvmlReturn_t>(injected);
  if (!is_initialised) return NVML_ERROR_UNINITIALIZED;
  return device == the_device() ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

}  // namespace

nvmlReturn_t nvmlInit_v2() {
  if (const int injected = note_call("nvmlInit_v2"); injected != 0) return static_cast<nvmlReturn_t>(injected);
  is_initialised = true;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    default: return "Unknown Error";
  }
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device) {
  if (const nvmlReturn_t failed = begin("nvmlDeviceGetHandleByPciBusId_v2", the_device()); failed != NVML_SUCCESS)
    return failed;
  if (std::strcmp(id, kPciBusId) != 0) return NVML_ERROR_NOT_FOUND;
  *device = the_device();
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* use) {
  if (const nvmlReturn_t failed = begin("nvmlDeviceGetUtilizationRates", device); failed != NVML_SUCCESS) return failed;
  *use = {.gpu = 25, .memory = 10};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  if (const nvmlReturn_t failed = begin("nvmlDeviceGetMemoryInfo", device); failed != NVML_SUCCESS) return failed;
  constexpr unsigned long long kGiB = 1ULL << 30;
  *memory = {.total = 16 * kGiB, .free = 13 * kGiB, .used = 3 * kGiB};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  if (const nvmlReturn_t failed = begin("nvmlDeviceGetPowerUsage", device); failed != NVML_SUCCESS) return failed;
  *milliwatts = 71'500;
  return NVML_SUCCESS;
}

}  // namespace saccade::cuda
