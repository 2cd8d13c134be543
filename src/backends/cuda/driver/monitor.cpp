#include "cuda/driver/monitor.hpp"

#include <dlfcn.h>

#include <string>

#include "base/log.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/driver/nvml_api.hpp"

namespace saccade::cuda {
namespace {

/// NVML's functions.
struct Nvml {
#define SACCADE_POINTER(name, result, parameters) result(*name) parameters = nullptr;
  SACCADE_NVML(SACCADE_POINTER)
#undef SACCADE_POINTER
};

/// NVML, started; or why it can't be used.
struct Opened {
  Nvml api;
  std::string failure;
};

Opened open_nvml() {
  Opened opened;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    opened.failure = dlerror();
    return opened;
  }
#define SACCADE_RESOLVE(name, result, parameters)                                       \
  opened.api.name = reinterpret_cast<decltype(opened.api.name)>(dlsym(library, #name)); \
  if (opened.api.name == nullptr && opened.failure.empty()) opened.failure = "libnvidia-ml.so.1 has no " #name;
  SACCADE_NVML(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  if (!opened.failure.empty()) return opened;
  const nvmlReturn_t started = opened.api.nvmlInit_v2();
  if (started != NVML_SUCCESS) opened.failure = opened.api.nvmlErrorString(started);
  return opened;
}

/// Stays open, as the driver does.
const Opened& nvml() {
  static const Opened opened = open_nvml();
  return opened;
}

/// NVML does not know the ordinals of CUDA, which depend on CUDA_VISIBLE_DEVICES.
std::string pci_bus_id(int ordinal) {
  CUdevice device = 0;
  SACCADE_CUDA(cuDeviceGet(&device, ordinal));
  char id[32] = {};
  SACCADE_CUDA(cuDeviceGetPCIBusId(id, sizeof id, device));
  return id;
}

class Monitor final : public GpuMonitor {
 public:
  explicit Monitor(int ordinal) {
    const std::string id = pci_bus_id(ordinal);
    std::string failure = nvml().failure;
    if (failure.empty()) {
      const nvmlReturn_t found = nvml().api.nvmlDeviceGetHandleByPciBusId_v2(id.c_str(), &device_);
      if (found != NVML_SUCCESS) failure = nvml().api.nvmlErrorString(found);
    }
    if (!failure.empty()) {
      device_ = nullptr;
      log(LogLevel::kInfo, "cuda:{}: NVML does not tell its use, memory and power: {}", ordinal, failure);
    }
    static_cast<void>(read());  // the first queries of a process take milliseconds
  }

  GpuState read() const noexcept override {
    GpuState state;
    if (device_ == nullptr) return state;
    const Nvml& api = nvml().api;
    nvmlUtilization_t use{};
    if (api.nvmlDeviceGetUtilizationRates(device_, &use) == NVML_SUCCESS) state.use = use.gpu / 100.0;
    nvmlMemory_t memory{};
    if (api.nvmlDeviceGetMemoryInfo(device_, &memory) == NVML_SUCCESS)
      state.memory_bytes = static_cast<std::int64_t>(memory.used);
    unsigned milliwatts = 0;
    if (api.nvmlDeviceGetPowerUsage(device_, &milliwatts) == NVML_SUCCESS) state.watts = milliwatts / 1000.0;
    return state;
  }

 private:
  nvmlDevice_t device_ = nullptr;  // null: unknown
};

}  // namespace

std::unique_ptr<GpuMonitor> monitor(int ordinal) { return std::make_unique<Monitor>(ordinal); }

}  // namespace saccade::cuda
