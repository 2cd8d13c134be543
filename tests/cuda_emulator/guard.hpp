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

}  // namespace saccade::emulator
