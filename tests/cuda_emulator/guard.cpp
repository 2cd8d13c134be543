#include "guard.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
}

namespace saccade::emulator {
namespace {

constexpr unsigned char kGuard = 0xA5;

}  // namespace

void set_guard(void* guard) {
  std::memset(guard, kGuard, kGuardBytes);
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(guard, kGuardBytes);
}

bool guard_holds(const void* guard) {
  if (__asan_unpoison_memory_region != nullptr) return true;  // AddressSanitizer traps writes itself
  const auto* bytes = static_cast<const unsigned char*>(guard);
  return std::all_of(bytes, bytes + kGuardBytes, [](unsigned char byte) { return byte == kGuard; });
}

void drop_guard(void* guard) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(guard, kGuardBytes);
}

}  // namespace saccade::emulator
