#include "cuda/driver/device.hpp"

#include <memory>

#include "base/digest.hpp"
#include "base/elf.hpp"
#include "base/error.hpp"
#include "base/kept_files.hpp"
#include "base/log.hpp"
#include "cuda/driver/compiler.hpp"

namespace saccade::cuda {
namespace {

constexpr const char* kCacheFolder = "kernels";
constexpr int kOldestCapability = 80;  // the first with cp.async, and with mma of bf16 and tf32
constexpr int kMaxCarveout = 100;      // percent of the unified L1 and shared memory

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
    fail(ErrorCode::kNotFound, "there is no cuda:{}: {} GPU{} visible (see nvidia-smi and CUDA_VISIBLE_DEVICES)",
         ordinal, count, count == 1 ? " is" : "s are");
  CUdevice device = 0;
  SACCADE_CUDA(cuDeviceGet(&device, ordinal));
  char name[256] = {};
  SACCADE_CUDA(cuDeviceGetName(name, sizeof name, device));
  capability_ = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (capability_ < kOldestCapability)
    fail(ErrorCode::kUnsupported,
         "cuda:{} ({}) has the compute capability {}.{}, and the kernels need {}.{} or newer: use --device cpu",
         ordinal, name, capability_ / 10, capability_ % 10, kOldestCapability / 10, kOldestCapability % 10);
  // From Hopper on, architecture-specific instructions (wgmma) need the "a" target.
  architecture_ = fmt::format("sm_{}{}", capability_, capability_ >= 90 ? "a" : "");
  multiprocessors_ = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  shared_memory_bytes_ = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SACCADE_CUDA(cuDeviceTotalMem_v2(&memory_bytes_, device));
  SACCADE_CUDA(cuDevicePrimaryCtxRetain(&context_, device));
  model_ = name;
  name_ = fmt::format("{} ({}, {} multiprocessors, CUDA {}.{})", name, architecture_, multiprocessors_,
                      driver_version() / 1000, driver_version() % 1000 / 10);
}

int Device::attribute(CUdevice device, CUdevice_attribute attribute) const {
  int value = 0;
  SACCADE_CUDA(cuDeviceGetAttribute(&value, attribute, device));
  return value;
}

void Device::add_images(KernelImages images) {
  for (const auto& [key, image] : images)
    if (!is_whole_elf(image)) fail(ErrorCode::kInvalidFile, "a kernel's machine code is none: compile the plan again");
  const std::scoped_lock lock(mutex_);
  for (auto& [key, image] : images)
    images_.insert_or_assign(key, std::make_shared<const std::string>(std::move(image)));
}

std::shared_ptr<const std::string> Device::added_image(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = images_.find(key);
  return found == images_.end() ? nullptr : found->second;
}

namespace {

/// Name of a kernel in the disk cache; includes the compiler's version. Empty without a compiler.
std::string cache_name(const std::string& key) {
  try {
    return key + "-" + compiler_version();
  } catch (const Error&) {
    return {};
  }
}

std::shared_ptr<const std::string> cached_image(const std::string& key) {
  const std::string name = cache_name(key);
  auto image = name.empty() ? std::nullopt : kept_file(kCacheFolder, name);
  return image && is_whole_elf(*image) ? std::make_shared<const std::string>(*std::move(image)) : nullptr;
}

}  // namespace

CUmodule Device::load(const std::string& key, const std::string& source, const std::string& name, Kernel& kernel) {
  CUmodule module = nullptr;
  kernel.image = added_image(key);
  if (kernel.image == nullptr) kernel.image = cached_image(key);
  make_current();
  if (kernel.image != nullptr) {
    const CUresult result = driver().cuModuleLoadData(&module, kernel.image->data());
    if (result == CUDA_SUCCESS) return module;
    log(LogLevel::kInfo, "the driver refuses the machine code of kernel {} ({}): it is compiled again", name,
        static_cast<int>(result));
  }
  kernel.image = std::make_shared<const std::string>(compile_cubin(source, name, architecture_));
  SACCADE_CUDA(cuModuleLoadData(&module, kernel.image->data()));
  keep_file(kCacheFolder, cache_name(key), *kernel.image);
  return module;
}

Kernel Device::make_kernel(const std::string& key, const std::string& source, const std::string& name) {
  Kernel kernel{.key = key};
  const CUmodule module = load(key, source, name, kernel);
  SACCADE_CUDA(cuModuleGetFunction(&kernel.function, module, name.c_str()));
  // The same carve-out for all kernels: a change between two kernels drains the SM.
  SACCADE_CUDA(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kMaxCarveout));
  SACCADE_CUDA(cuFuncGetAttribute(&kernel.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.function));
  SACCADE_CUDA(cuFuncGetAttribute(&kernel.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel.function));
  return kernel;
}

const Kernel& Device::kernel(const std::string& source, const std::string& name) {
  const std::string key = digest(kernel_headers_digest() + model_ + architecture_ + source);
  Entry* entry = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    entry = &kernels_[key];
  }
  // Compilation takes about a second. Other kernels may compile meanwhile, but each only once.
  std::call_once(entry->made, [&] { entry->kernel = make_kernel(key, source, name); });
  return entry->kernel;
}

}  // namespace saccade::cuda
