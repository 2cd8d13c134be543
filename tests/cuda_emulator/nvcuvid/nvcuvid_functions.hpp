#pragma once

#include "nvdec/nvcuvid_api.hpp"

// libnvcuvid's exported signatures: a definition with other parameters does not compile.
namespace saccade::cuda {
#pragma GCC visibility push(default)
extern "C" {
#define SACCADE_DECLARE(name, parameters) CUresult name parameters;
SACCADE_NVCUVID(SACCADE_DECLARE)
#undef SACCADE_DECLARE
}
#pragma GCC visibility pop
}  // namespace saccade::cuda
