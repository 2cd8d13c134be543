#pragma once

#include <cstdint>

namespace saccade {

/// Starts the count of peak_memory() again from what is resident now. False where the system refuses: the peak is then
/// that of the process's whole life.
bool reset_peak_memory();
/// The most that was resident of this process since then (VmHWM), in bytes; 0 where the system does not say.
std::int64_t peak_memory();

}  // namespace saccade
