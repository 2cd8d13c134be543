#pragma once

#include <span>
#include <string>
#include <string_view>

namespace saccade::cuda {

/// One of the kernels' own headers, as #include names it.
struct KernelHeader {
  const char* name;
  std::string_view text;
};
/// All files of kernels/, which are built into the binary.
std::span<const KernelHeader> kernel_headers();

/// Machine code for ARCHITECTURE ("sm_90a") from CUDA C++ SOURCE, by NVRTC, which is opened at the first call. The
/// result is an ELF image (cubin). Throws Error (kDevice) where NVRTC is missing, saying what to install; (kInternal)
/// with the compiler's log where the source does not compile. Any thread.
std::string compile_cubin(const std::string& source, const std::string& name, const std::string& architecture);

/// A digest of what every kernel may include and of how it is compiled: other ones make other machine code.
const std::string& kernel_headers_digest();
/// NVRTC's, "13.0". Throws as compile_cubin() does.
std::string compiler_version();

}  // namespace saccade::cuda
