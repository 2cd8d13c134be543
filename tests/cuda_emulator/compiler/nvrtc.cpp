#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "calls.hpp"
#include "compiler/kernel_build.hpp"
#include "compiler/kernel_source.hpp"
#include "compiler/nvrtc_functions.hpp"
#include "emulator.hpp"
#include "unbuilt.hpp"

// NVRTC's entry points; see driver/driver.cpp.
namespace saccade::cuda {

struct _nvrtcProgram {
  emulator::KernelSource source;
  emulator::Built built;
};

}  // namespace saccade::cuda

namespace saccade::emulator {
namespace {

using cuda::nvrtcResult;

constexpr auto kInvalidInput = static_cast<nvrtcResult>(3);
constexpr auto kInvalidProgram = static_cast<nvrtcResult>(4);
constexpr auto kInvalidOption = static_cast<nvrtcResult>(5);

#define SACCADE_BEGIN(function) \
  if (const int injected = emulator::note_call(#function); injected != 0) return static_cast<nvrtcResult>(injected)

/// Parses OPTION into OPTIONS; returns whether it is known.
bool take(std::string_view option, KernelOptions& options) {
  const auto value = [&](std::initializer_list<std::string_view> names) -> std::string {
    for (std::string_view name : names)
      if (option.starts_with(name)) return std::string(option.substr(name.size()));
    return {};
  };
  if (const std::string architecture = value({"--gpu-architecture=", "-arch="}); !architecture.empty()) {
    options.architecture = architecture;
    return architecture.starts_with("sm_");  // NVRTC makes no cubin for virtual architectures
  }
  if (const std::string standard = value({"--std=", "-std="}); !standard.empty()) {
    options.standard = "-std=" + standard;
    return true;
  }
  if (const std::string macro = value({"--define-macro=", "-D"}); !macro.empty()) {
    options.defines += " -D" + macro;
    return true;
  }
  for (std::string_view ignored :
       {"--device-as-default-execution-space", "-default-device", "--fmad=", "-fmad=", "--use_fast_math",
        "--extra-device-vectorization", "--maxrregcount=", "-lineinfo", "--generate-line-info", "--restrict", "-w"})
    if (option.starts_with(ignored)) return true;
  return false;
}

/// Writes the kernel's source to $SACCADE_EMULATOR_SOURCES, if set, under a digest of its contents, for NVIDIA's
/// compiler.
void keep(const std::string& source) {
  const std::string folder = setting("SACCADE_EMULATOR_SOURCES", "");
  if (folder.empty()) return;
  std::filesystem::create_directories(folder);
  const auto path = std::filesystem::path(folder) / (std::to_string(std::hash<std::string>{}(source)) + ".cu");
  const auto part = path.string() + "." + std::to_string(getpid());
  std::ofstream(part, std::ios::binary) << source;
  std::filesystem::rename(part, path);
}

/// Kernels that will not run: their names and parameters only.
Built make(const KernelSource& source, const KernelOptions& options) {
  if (setting("SACCADE_EMULATOR_RUN", "yes") != "no") return build(source, options);
  std::string image = kUnbuilt + options.architecture + '\n';
  for (const KernelName& kernel : kernel_names(source.text)) {
    image += kernel.name + ' ';
    for (const std::string& parameter : kernel.parameters)
      image += parameter.find('*') != std::string::npos ? 'p' : 'v';
    image += '\n';
  }
  return {image, {}};
}

}  // namespace
}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

nvrtcResult nvrtcVersion(int* major, int* minor) {
  SACCADE_BEGIN(nvrtcVersion);
  // Changes with every build of the emulator: caches by NVRTC version must not outlive it.
  *major = 13;
  *minor = build_number();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                               const char* const* sources, const char* const* names) {
  SACCADE_BEGIN(nvrtcCreateProgram);
  if (source == nullptr || headers < 0) return kInvalidInput;
  auto made = std::make_unique<_nvrtcProgram>();
  made->source.name = name == nullptr || *name == '\0' ? "default_program" : name;
  made->source.text = source;
  for (int i = 0; i < headers; ++i) made->source.headers[names[i]] = sources[i];
  *program = made.release();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  SACCADE_BEGIN(nvrtcDestroyProgram);
  if (program == nullptr || *program == nullptr) return kInvalidProgram;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int options, const char* const* texts) {
  SACCADE_BEGIN(nvrtcCompileProgram);
  if (program == nullptr) return kInvalidProgram;
  KernelOptions taken;
  for (int i = 0; i < options; ++i)
    if (!take(texts[i], taken)) {
      program->built = {{}, "nvrtc: error: invalid value for an option: " + std::string(texts[i]) + "\n"};
      return kInvalidOption;
    }
  keep(program->source.text);
  program->built = make(program->source, taken);
  return program->built.object.empty() ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* bytes) {
  SACCADE_BEGIN(nvrtcGetProgramLogSize);
  if (program == nullptr) return kInvalidProgram;
  *bytes = program->built.log.size() + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  SACCADE_BEGIN(nvrtcGetProgramLog);
  if (program == nullptr) return kInvalidProgram;
  std::memcpy(log, program->built.log.c_str(), program->built.log.size() + 1);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes) {
  SACCADE_BEGIN(nvrtcGetCUBINSize);
  if (program == nullptr || program->built.object.empty()) return kInvalidProgram;
  *bytes = program->built.object.size();
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  SACCADE_BEGIN(nvrtcGetCUBIN);
  if (program == nullptr || program->built.object.empty()) return kInvalidProgram;
  std::memcpy(cubin, program->built.object.data(), program->built.object.size());
  return NVRTC_SUCCESS;
}

}  // namespace saccade::cuda

void emulator_reset() { saccade::emulator::forget_calls(); }
int emulator_live() { return 0; }
