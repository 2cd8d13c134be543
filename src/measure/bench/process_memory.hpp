#pragma once

#include <cstdint>

namespace saccade {

/// Resets peak_memory() to the current resident size. False if the system refuses: the peak is then that of the
/// process's whole life.
bool reset_peak_memory();
/// The peak resident size of this process since then (VmHWM), in bytes; 0 if the system does not say.
std::int64_t peak_memory();

}  // namespace saccade
