#include "cuda/driver/compiler.hpp"

#include <dlfcn.h>

#include <vector>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "cuda/driver/driver_api.hpp"

namespace saccade::cuda {
namespace {

constexpr const char* kOptions[] = {"--std=c++17", "--device-as-default-execution-space", "--fmad=true"};
constexpr const char* kLibraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

NvrtcApi resolve() {
  void* library = nullptr;
  for (const char* name : kLibraries)
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail(ErrorCode::kDevice,
         "NVRTC, CUDA's compiler library, can't be opened ({}): install NVIDIA's package cuda-nvrtc, or the Python "
         "package nvidia-cuda-nvrtc and put its folder into LD_LIBRARY_PATH",
         dlerror());
  NvrtcApi api;
#define SACCADE_RESOLVE(name, parameters)                                 \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr) fail(ErrorCode::kDevice, "NVRTC has no {}: install that of CUDA 12 or newer", #name);
  SACCADE_NVRTC(SACCADE_RESOLVE)
#undef SACCADE_RESOLVE
  return api;
}

const NvrtcApi& nvrtc() {
  static const NvrtcApi api = resolve();
  return api;
}

class Program {
 public:
  Program(const std::string& source, const std::string& name) : name_(name) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const KernelHeader& header : kernel_headers()) {
      names.push_back(header.name);
      texts.push_back(header.text.data());
    }
    expect(nvrtc().nvrtcCreateProgram(&program_, source.c_str(), name.c_str(), static_cast<int>(names.size()),
                                      texts.data(), names.data()));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtc().nvrtcDestroyProgram(&program_); }

  std::string compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    std::vector<const char*> options{target.c_str()};
    options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
    expect(nvrtc().nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data()));
    std::size_t bytes = 0;
    expect(nvrtc().nvrtcGetCUBINSize(program_, &bytes));
    std::string cubin(bytes, '\0');
    expect(nvrtc().nvrtcGetCUBIN(program_, cubin.data()));
    return cubin;
  }

 private:
  void expect(nvrtcResult result) const {
    if (result == NVRTC_SUCCESS) return;
    std::string log;
    std::size_t bytes = 0;
    if (program_ != nullptr && nvrtc().nvrtcGetProgramLogSize(program_, &bytes) == NVRTC_SUCCESS) {
      log.resize(bytes);
      nvrtc().nvrtcGetProgramLog(program_, log.data());
    }
    fail(ErrorCode::kInternal, "kernel {} does not compile (NVRTC's error {}):\n{}", name_, static_cast<int>(result),
         log.c_str());
  }

  std::string name_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string compile_cubin(const std::string& source, const std::string& name, const std::string& architecture) {
  return Program(source, name).compile(architecture);
}

const std::string& kernel_headers_digest() {
  static const std::string all = [] {
    std::string text;
    for (const char* option : kOptions) text += option;
    for (const KernelHeader& header : kernel_headers()) text += header.name + digest(header.text);
    return digest(text);
  }();
  return all;
}

std::string compiler_version() {
  int major = 0;
  int minor = 0;
  if (nvrtc().nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) fail(ErrorCode::kDevice, "NVRTC tells no version");
  return fmt::format("{}.{}", major, minor);
}

}  // namespace saccade::cuda
