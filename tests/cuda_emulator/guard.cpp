#include "guard.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
__attribute__((weak)) void* __asan_region_is_poisoned(void* address, std::size_t bytes);
__attribute__((weak)) void __asan_get_shadow_mapping(std::size_t* scale, std::size_t* offset);
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

const unsigned char* shadow_memory() {
  if (__asan_get_shadow_mapping == nullptr) return nullptr;
  std::size_t scale = 0;
  std::size_t offset = 0;
  __asan_get_shadow_mapping(&scale, &offset);
  return reinterpret_cast<const unsigned char*>(offset);
}

bool is_poisoned(const void* address, std::size_t bytes) {
  return __asan_region_is_poisoned != nullptr &&
         __asan_region_is_poisoned(const_cast<void*>(address), bytes) != nullptr;
}

}  // namespace saccade::emulator
