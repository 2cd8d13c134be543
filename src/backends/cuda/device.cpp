#include "cuda/device.hpp"

#include <memory>

#include "base/error.hpp"
#include "cuda/compiler.hpp"

namespace saccade::cuda {
namespace {

constexpr int kMostCarveout = 100;  // percent of what shared memory can have of the first-level cache

}  // namespace

Device& Device::get(int ordinal) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<Device>> devices;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Device>& device = devices[ordinal];
  if (device == nullptr) device.reset(new Device(ordinal));
  return *device;
}

Device::Device(int ordinal) : ordinal_(ordinal) {
  int count = 0;
  SACCADE_CUDA(cuDeviceGetCount(&count));
  if (ordinal < 0 || ordinal >= count)
    fail(ErrorCode::kDevice, "there is no cuda:{}: {} GPU{} visible (see nvidia-smi and CUDA_VISIBLE_DEVICES)", ordinal,
         count, count == 1 ? " is" : "s are");
  CUdevice device = 0;
  SACCADE_CUDA(cuDeviceGet(&device, ordinal));
  char name[256] = {};
  SACCADE_CUDA(cuDeviceGetName(name, sizeof name, device));
  capability_ = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  // From Hopper on a GPU's own instructions (wgmma) need the architecture's "a" target.
  architecture_ = fmt::format("sm_{}{}", capability_, capability_ >= 90 ? "a" : "");
  multiprocessors_ = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  shared_memory_bytes_ = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SACCADE_CUDA(cuDeviceTotalMem_v2(&memory_bytes_, device));
  SACCADE_CUDA(cuDevicePrimaryCtxRetain(&context_, device));
  name_ = fmt::format("{} ({}, {} multiprocessors, CUDA {}.{})", name, architecture_, multiprocessors_,
                      driver_version() / 1000, driver_version() % 1000 / 10);
}

int Device::attribute(CUdevice device, CUdevice_attribute attribute) const {
  int value = 0;
  SACCADE_CUDA(cuDeviceGetAttribute(&value, attribute, device));
  return value;
}

const Kernel& Device::kernel(const std::string& source, const std::string& name) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = kernels_.find(source); found != kernels_.end()) return found->second;
  }
  // Compiling takes a second: others may go on meanwhile, and whoever is first wins.
  const std::string cubin = compile_cubin(source, name, architecture_);
  make_current();
  CUmodule module = nullptr;
  Kernel kernel;
  SACCADE_CUDA(cuModuleLoadData(&module, cubin.data()));
  SACCADE_CUDA(cuModuleGetFunction(&kernel.function, module, name.c_str()));
  // The same for all: where it changes between kernels, a multiprocessor has to drain first.
  SACCADE_CUDA(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kMostCarveout));
  SACCADE_CUDA(cuFuncGetAttribute(&kernel.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.function));
  SACCADE_CUDA(cuFuncGetAttribute(&kernel.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel.function));
  const std::scoped_lock lock(mutex_);
  return kernels_.emplace(source, kernel).first->second;
}

}  // namespace saccade::cuda
