#pragma once

#include <span>
#include <string>
#include <string_view>

namespace saccade::cuda {

/// A kernel header, by its #include name.
struct KernelHeader {
  const char* name;
  std::string_view text;
};
/// All files of kernels/, embedded in the binary.
std::span<const KernelHeader> kernel_headers();

/// Compiles CUDA C++ SOURCE to a cubin (an ELF image) for ARCHITECTURE ("sm_90a") with NVRTC, which is opened at the
/// first call. Throws Error: kDevice if NVRTC is missing, saying what to install; kInternal with the compiler's log if
/// the source does not compile. Any thread.
std::string compile_cubin(const std::string& source, const std::string& name, const std::string& architecture);

/// Digest of all kernel headers and compile options. Compiled kernels are valid for one digest.
const std::string& kernel_headers_digest();
/// NVRTC's version, "13.0". Throws like compile_cubin().
std::string compiler_version();

}  // namespace saccade::cuda
