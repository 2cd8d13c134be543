#include "self_test/emulated_device.hpp"

#include <fstream>
#include <iterator>
#include <map>

namespace saccade::emulator {

std::string EmulatedDevice::compile(const std::string& source, const std::string& architecture) {
  std::vector<std::string> texts;
  std::vector<const char*> headers;
  const std::vector<const char*> names{"launch.cuh", "types.cuh", "ptx.cuh", "warpgroup.cuh"};
  for (const char* name : names) {
    std::ifstream file(std::string(SACCADE_KERNELS) + "/" + name);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (const std::string& text : texts) headers.push_back(text.c_str());
  nvrtcProgram program = nullptr;
  EXPECT_EQ(nvrtc.nvrtcCreateProgram(&program, source.c_str(), "test.cu", static_cast<int>(names.size()),
                                     headers.data(), names.data()),
            NVRTC_SUCCESS);
  const std::string option = "--gpu-architecture=" + architecture;
  const char* options[] = {option.c_str(), "--std=c++17", "--device-as-default-execution-space", "--fmad=true"};
  const nvrtcResult result = nvrtc.nvrtcCompileProgram(program, 4, options);
  std::size_t bytes = 0;
  EXPECT_EQ(nvrtc.nvrtcGetProgramLogSize(program, &bytes), NVRTC_SUCCESS);
  std::string log(bytes, '\0');
  EXPECT_EQ(nvrtc.nvrtcGetProgramLog(program, log.data()), NVRTC_SUCCESS);
  log.pop_back();
  if (result == NVRTC_SUCCESS) {
    EXPECT_EQ(nvrtc.nvrtcGetCUBINSize(program, &bytes), NVRTC_SUCCESS);
    cubin.resize(bytes);
    EXPECT_EQ(nvrtc.nvrtcGetCUBIN(program, cubin.data()), NVRTC_SUCCESS);
  }
  EXPECT_EQ(nvrtc.nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
  return log;
}

CUfunction EmulatedDevice::kernel(const std::string& source) {
  EXPECT_EQ(compile(source), "");
  CUfunction function = nullptr;
  EXPECT_EQ(driver.cuModuleLoadData(&modules_.emplace_back(), cubin.data()), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuModuleGetFunction(&function, modules_.back(), "k"), CUDA_SUCCESS);
  return function;
}

CUresult EmulatedDevice::launch(CUfunction function, unsigned blocks, unsigned threads,
                                std::vector<CUdeviceptr> arguments, unsigned shared_bytes, bool overlap) {
  std::vector<void*> pointers;
  for (CUdeviceptr& argument : arguments) pointers.push_back(&argument);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = overlap ? 1 : 0;
  const CUlaunchConfig config{.gridDimX = blocks,
                              .gridDimY = 1,
                              .gridDimZ = 1,
                              .blockDimX = threads,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .sharedMemBytes = shared_bytes,
                              .hStream = stream,
                              .attrs = &attribute,
                              .numAttrs = 1};
  return driver.cuLaunchKernelEx(&config, function, pointers.data(), nullptr);
}

}  // namespace saccade::emulator
