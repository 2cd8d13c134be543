#pragma once

#include <string>

// Call log and fault injection.
namespace saccade::emulator {

/// Logs a call of FUNCTION; returns the injected result, or 0.
int note_call(const char* function);

/// Logs that the kernel NAME runs.
void note_kernel(const std::string& name);
/// emulator_reset() of calls, kernels and failures.
void forget_calls();

/// Environment variable NAME, or OTHERWISE.
std::string setting(const char* name, const std::string& otherwise);

/// Cache of compiled kernels; created at the first call.
const std::string& cache_folder();

}  // namespace saccade::emulator
