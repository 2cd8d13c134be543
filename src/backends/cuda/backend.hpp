#pragma once

#include "cuda/driver/device.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// The backend of GPU ORDINAL, opened at the first call and kept. FALLBACK: nodes without a kernel run on the host by
/// their reference kernels. Throws Error as Device::get() does.
const Backend& backend(int ordinal, bool fallback, bool graph);

}  // namespace saccade::cuda
