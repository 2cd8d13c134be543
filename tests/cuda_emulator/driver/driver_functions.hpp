#pragma once

#include "cuda/driver/driver_api.hpp"

// libcuda's exported signatures: a definition with other parameters does not compile.
namespace saccade::cuda {
#pragma GCC visibility push(default)
extern "C" {
#define SACCADE_DECLARE(name, parameters) CUresult name parameters;
SACCADE_CUDA_DRIVER(SACCADE_DECLARE)
#undef SACCADE_DECLARE
}
#pragma GCC visibility pop
}  // namespace saccade::cuda
