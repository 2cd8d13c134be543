#pragma once

// The parts of NVML's ABI that are used, declared here so that building needs no toolkit. Names and values are NVIDIA's
// (nvml.h).
namespace saccade::cuda {

using nvmlDevice_t = struct nvmlDevice_st*;

enum nvmlReturn_t : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
};

struct nvmlUtilization_t {
  unsigned gpu;     // percent
  unsigned memory;  // percent
};

struct nvmlMemory_t {  // bytes
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// Functions by the symbol that libnvidia-ml exports. Power is in milliwatts.
// clang-format off
#define SACCADE_NVML(X)                                                                     \
  X(nvmlInit_v2, nvmlReturn_t, ())                                                          \
  X(nvmlErrorString, const char*, (nvmlReturn_t result))                                    \
  X(nvmlDeviceGetHandleByPciBusId_v2, nvmlReturn_t, (const char* id, nvmlDevice_t* device)) \
  X(nvmlDeviceGetUtilizationRates, nvmlReturn_t, (nvmlDevice_t device, nvmlUtilization_t* use)) \
  X(nvmlDeviceGetMemoryInfo, nvmlReturn_t, (nvmlDevice_t device, nvmlMemory_t* memory))     \
  X(nvmlDeviceGetPowerUsage, nvmlReturn_t, (nvmlDevice_t device, unsigned* milliwatts))
// clang-format on

}  // namespace saccade::cuda
