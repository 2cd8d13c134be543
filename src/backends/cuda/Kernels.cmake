# Embeds the kernel headers in the module: generated/kernel_headers.cpp lists them by name. The .hpp files
# are also included by host code.
file(GLOB kernels CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/kernels/*.cuh"
  "${CMAKE_CURRENT_SOURCE_DIR}/backends/cuda/kernels/*.hpp")
set(includes "")
set(entries "")
foreach(kernel IN LISTS kernels)
  get_filename_component(file "${kernel}" NAME)
  get_filename_component(name "${kernel}" NAME_WE)
  saccade_embed(module_cuda kernel_${name} "${kernel}")
  string(APPEND includes "#include \"embedded/kernel_${name}.hpp\"\n")
  string(APPEND entries "    {\"${file}\", embedded::kernel_${name}},\n")
endforeach()
set(list "${PROJECT_BINARY_DIR}/generated/kernel_headers.cpp")
file(CONFIGURE OUTPUT "${list}" CONTENT [=[
#include "cuda/driver/compiler.hpp"
@includes@
namespace saccade::cuda {

std::span<const KernelHeader> kernel_headers() {
  static constexpr KernelHeader kHeaders[] = {
@entries@  };
  return kHeaders;
}

}  // namespace saccade::cuda
]=] @ONLY)
target_sources(module_cuda PRIVATE "${list}")
