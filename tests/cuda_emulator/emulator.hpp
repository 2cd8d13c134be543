#pragma once

#include <cstddef>

// What a test may ask of the emulated libraries besides their own functions: found by dlsym in libcuda.so.1; those of
// calls in libnvrtc.so.13 and libcublasLt.so.13, too, for their own.
#pragma GCC visibility push(default)
extern "C" {

/// Makes the call of FUNCTION ("cuMemAlloc_v2") after AFTER more of them answer RESULT and do nothing, once.
void emulator_fail(const char* function, int after, int result);
/// The functions called so far, one a line. The text is valid until this thread asks again.
const char* emulator_calls();
/// The kernels that have run so far, one a line.
const char* emulator_kernels();
/// Allocations, streams, events, graphs and modules that are there now.
int emulator_live();
/// Whether BYTES from ADDRESS on are memory that the device sees.
bool emulator_holds(const void* address, std::size_t bytes);
/// Whether a graph is captured of STREAM.
bool emulator_captures(void* stream);
/// Forgets calls, kernels, failures to come, and an error that made the device unusable.
void emulator_reset();
}
#pragma GCC visibility pop
