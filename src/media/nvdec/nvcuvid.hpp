#pragma once

#include "cuda/driver/driver.hpp"
#include "nvdec/nvcuvid_api.hpp"

namespace saccade::nvdec {

/// NVDEC's functions, opened at the first call. Throws Error (kNotFound) with a remedy if the library is missing. Any
/// thread.
const cuda::NvcuvidApi& nvcuvid();

/// The primary context of the GPU with the number DEVICE, which the process shares; it is kept. Throws Error. Any
/// thread.
cuda::CUcontext context_of(int device);
/// Makes it current on the calling thread. Throws Error.
void make_current(int device);

}  // namespace saccade::nvdec

/// Calls a function of NVDEC and checks it: SACCADE_NVDEC(cuvidDestroyDecoder(decoder)).
#define SACCADE_NVDEC(call) ::saccade::cuda::check(::saccade::nvdec::nvcuvid().call, #call)
