#pragma once

#include <cstddef>

// Guard bytes around memory: writes to them are found later, or at once with AddressSanitizer.
namespace saccade::emulator {

inline constexpr std::size_t kGuardBytes = 256;
/// Initial contents of memory: NaN as a float, -1 as an integer.
inline constexpr unsigned char kPoison = 0xFF;

void set_guard(void* guard);
/// Whether it is intact.
bool guard_holds(const void* guard);
/// Before its memory is freed.
void drop_guard(void* guard);

/// AddressSanitizer's shadow of address 0; null in a process without it.
const unsigned char* shadow_memory();
/// Whether AddressSanitizer is there and poisons any of the BYTES at ADDRESS.
bool is_poisoned(const void* address, std::size_t bytes);

}  // namespace saccade::emulator
