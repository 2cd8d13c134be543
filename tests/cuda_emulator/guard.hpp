#pragma once

#include <cstddef>

// Bytes behind memory that nobody may touch: written ones are found later, and under AddressSanitizer at once.
namespace saccade::emulator {

inline constexpr std::size_t kGuardBytes = 256;
/// What memory holds before anything is written: nan as a float, -1 as an integer.
inline constexpr unsigned char kPoison = 0xFF;

void set_guard(void* guard);
/// Whether it is untouched.
bool guard_holds(const void* guard);
/// Before its memory is freed.
void drop_guard(void* guard);

}  // namespace saccade::emulator
