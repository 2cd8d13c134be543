#pragma once

#include <string_view>

#include "cuda/driver/driver_api.hpp"

namespace saccade::cuda {

/// The driver API, opened and initialised at the first call. Throws Error with a remedy: (kNotFound) if there is no
/// driver or no GPU, (kDevice) if the driver is too old or does not start. Any thread.
const DriverApi& driver();

/// CUDA version that the driver supports, as 1000 * major + 10 * minor.
int driver_version();

/// Throws Error (kDevice) unless RESULT is a success: the call's name, the driver's message and a remedy.
void check(CUresult result, std::string_view call);

}  // namespace saccade::cuda

/// Calls a driver function and checks it: SACCADE_CUDA(cuMemAlloc_v2(&address, bytes)).
#define SACCADE_CUDA(call) ::saccade::cuda::check(::saccade::cuda::driver().call, #call)
