#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/driver/driver_api.hpp"
#include "emulator.hpp"

namespace saccade::emulator {

using namespace cuda;

/// Both libraries, opened like the backend opens them, with one stream.
class EmulatedDevice {
 public:
  EmulatedDevice() {
    void* driver_library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void* nvrtc_library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
    if (driver_library == nullptr || nvrtc_library == nullptr) ADD_FAILURE() << dlerror();
#define SACCADE_RESOLVE(name, parameters) \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(driver_library, #name));
    SACCADE_CUDA_DRIVER(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
#define SACCADE_RESOLVE(name, parameters) \
  nvrtc.name = reinterpret_cast<decltype(nvrtc.name)>(dlsym(nvrtc_library, #name));
    SACCADE_NVRTC(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
    fail = reinterpret_cast<decltype(fail)>(dlsym(driver_library, "emulator_fail"));
    calls = reinterpret_cast<decltype(calls)>(dlsym(driver_library, "emulator_calls"));
    kernels = reinterpret_cast<decltype(kernels)>(dlsym(driver_library, "emulator_kernels"));
    live = reinterpret_cast<decltype(live)>(dlsym(driver_library, "emulator_live"));
    reset = reinterpret_cast<decltype(reset)>(dlsym(driver_library, "emulator_reset"));
    EXPECT_EQ(driver.cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    reset();
  }
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;
  ~EmulatedDevice() {
    reset();
    for (CUdeviceptr address : memory_) EXPECT_EQ(driver.cuMemFree_v2(address), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    for (CUmodule module : modules_) EXPECT_EQ(driver.cuModuleUnload(module), CUDA_SUCCESS);
    EXPECT_EQ(live(), 0);
    reset();
  }

  /// Compiler log of SOURCE; empty if it compiles. The object is left in CUBIN.
  std::string compile(const std::string& source, const std::string& architecture = "sm_90a");
  /// The kernel k of SOURCE.
  CUfunction kernel(const std::string& source);
  /// Device memory that holds VALUES.
  template <typename T>
  CUdeviceptr upload(const std::vector<T>& values) {
    CUdeviceptr address = allocate(values.size() * sizeof(T));
    EXPECT_EQ(driver.cuMemcpyHtoD_v2(address, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    return address;
  }
  CUdeviceptr allocate(std::size_t bytes) {
    memory_.emplace_back();
    EXPECT_EQ(driver.cuMemAlloc_v2(&memory_.back(), bytes), CUDA_SUCCESS);
    return memory_.back();
  }
  template <typename T>
  std::vector<T> download(CUdeviceptr address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(driver.cuMemcpyDtoHAsync_v2(values.data(), address, count * sizeof(T), stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
    return values;
  }
  CUresult launch(CUfunction function, unsigned blocks, unsigned threads, std::vector<CUdeviceptr> arguments,
                  unsigned shared_bytes = 0, bool overlap = false);
  /// launch(), then synchronise.
  CUresult run(CUfunction function, unsigned blocks, unsigned threads, const std::vector<CUdeviceptr>& arguments,
               unsigned shared_bytes = 0) {
    const CUresult result = launch(function, blocks, threads, arguments, shared_bytes);
    return result == CUDA_SUCCESS ? driver.cuStreamSynchronize(stream) : result;
  }

  DriverApi driver;
  NvrtcApi nvrtc;
  CUstream stream = nullptr;
  std::string cubin;
  decltype(&emulator_fail) fail = nullptr;
  decltype(&emulator_calls) calls = nullptr;
  decltype(&emulator_kernels) kernels = nullptr;
  decltype(&emulator_live) live = nullptr;
  decltype(&emulator_reset) reset = nullptr;

 private:
  std::vector<CUdeviceptr> memory_;
  std::vector<CUmodule> modules_;
};

}  // namespace saccade::emulator
