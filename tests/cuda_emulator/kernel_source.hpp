#pragma once

#include <string>
#include <vector>

// What of CUDA C++ is no C++ and macros can't make it.
namespace saccade::emulator {

/// TEXT with every `extern __shared__ T name[];` made a pointer to the block's dynamic shared memory; lines stay.
std::string replace_dynamic_shared(const std::string& text);

struct KernelName {
  std::string name;
  // Arguments as they are written; empty: none.
  std::string launch_bounds;
  std::string cluster_dims;
  std::vector<std::string> parameters;
};

/// The extern "C" __global__ functions that SOURCE defines.
std::vector<KernelName> kernel_names(const std::string& source);

}  // namespace saccade::emulator
