#pragma once

#include <cstddef>

// Test interface of the emulated libraries, found by dlsym in libcuda.so.1; call logging also in libnvrtc.so.13,
// libcublasLt.so.13 and libnvidia-ml.so.1 for their own entry points.
#pragma GCC visibility push(default)
extern "C" {

/// Makes the call of FUNCTION ("cuMemAlloc_v2") after AFTER more calls return RESULT without any effect, once.
void emulator_fail(const char* function, int after, int result);
/// Functions called so far, one per line. Valid until the next call by this thread.
const char* emulator_calls();
/// Kernels that have run so far, one per line.
const char* emulator_kernels();
/// Number of live allocations, streams, events, graphs and modules.
int emulator_live();
/// Whether BYTES from ADDRESS on are device-accessible memory.
bool emulator_holds(const void* address, std::size_t bytes);
/// Whether STREAM is capturing.
bool emulator_captures(void* stream);
/// Clears logs, injected failures and sticky errors.
void emulator_reset();
}
#pragma GCC visibility pop
