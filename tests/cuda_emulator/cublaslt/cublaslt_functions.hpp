#pragma once

#include "cuda/libraries/cublaslt_api.hpp"

// cuBLASLt's exported signatures: a definition with other parameters does not compile.
namespace saccade::cuda {
#pragma GCC visibility push(default)
extern "C" {
#define SACCADE_DECLARE(name, parameters) cublasStatus_t name parameters;
SACCADE_CUBLASLT(SACCADE_DECLARE)
#undef SACCADE_DECLARE
const char* cublasLtGetStatusString(cublasStatus_t status);
std::size_t cublasLtGetVersion();
}
#pragma GCC visibility pop
}  // namespace saccade::cuda
