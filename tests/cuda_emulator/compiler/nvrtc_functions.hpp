#pragma once

#include "cuda/driver/driver_api.hpp"

// NVRTC's exported signatures: a definition with other parameters does not compile.
namespace saccade::cuda {
#pragma GCC visibility push(default)
extern "C" {
#define SACCADE_DECLARE(name, parameters) nvrtcResult name parameters;
SACCADE_NVRTC(SACCADE_DECLARE)
#undef SACCADE_DECLARE
}
#pragma GCC visibility pop
}  // namespace saccade::cuda
