#pragma once

#include <string>
#include <vector>

// Source transformations for CUDA syntax that macros cannot express.
namespace saccade::emulator {

/// Replaces every `extern __shared__ T name[];` by a pointer to the block's dynamic shared memory; lines keep their
/// numbers.
std::string replace_dynamic_shared(const std::string& text);

struct KernelName {
  std::string name;
  // Arguments as written; empty: none.
  std::string launch_bounds;
  std::string cluster_dims;
  std::vector<std::string> parameters;
};

/// The extern "C" __global__ functions that SOURCE defines.
std::vector<KernelName> kernel_names(const std::string& source);

}  // namespace saccade::emulator
