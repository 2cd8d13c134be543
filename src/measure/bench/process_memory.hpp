#pragma once

#include <cstdint>

namespace saccade {

/// Resets peak_memory() to the current resident size. False if the system refuses: the peak is then that of the
/// process's whole life.
bool reset_peak_memory();
/// The peak resident size of this process since then (VmHWM), in bytes; 0 if the system does not say.
std::int64_t peak_memory();

struct ProcessSize {
  std::int64_t resident_bytes = 0;
  std::int64_t threads = 0;
};
/// This process now; zeros if the system does not say.
ProcessSize process_size();

}  // namespace saccade
