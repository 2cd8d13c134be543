#pragma once

#include <string>

// The log of calls, and failures that were asked for.
namespace saccade::emulator {

/// Notes that FUNCTION was called; what it is to answer at once, or 0.
int note_call(const char* function);

/// Notes that the kernel NAME runs.
void note_kernel(const std::string& name);
/// emulator_reset() of calls, kernels and failures.
void forget_calls();

/// The setting NAME of the environment, or OTHERWISE.
std::string setting(const char* name, const std::string& otherwise);

/// Where compiled kernels are kept; made at the first call.
const std::string& cache_folder();

}  // namespace saccade::emulator
