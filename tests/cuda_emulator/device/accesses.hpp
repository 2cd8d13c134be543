#pragma once

// Checks every load and store: before griddepcontrol.wait a thread may only touch constants and shared memory, and in a
// process with AddressSanitizer nothing that its shadow memory calls poisoned. Kernels are compiled with
// ThreadSanitizer's instrumentation (-fsanitize=thread), whose calls end here: there is no libtsan. So one object
// serves builds with any sanitizer. Local variables whose address is not taken are not instrumented.
namespace {
namespace cpu {

#define SACCADE_UNCHECKED __attribute__((no_sanitize_thread))
// Inlined everywhere below it would take a quarter of a small kernel's compilation.
SACCADE_UNCHECKED __attribute__((noinline)) void before_access(const void* address, size_t bytes, bool writes) {
  if (__builtin_expect(runtime.before_wait, false)) runtime.access_before_wait(address, bytes, writes);
  if (runtime.shadow == nullptr) return;
  const auto first = reinterpret_cast<size_t>(address);
  // One byte of shadow stands for eight. Accesses have at most 16, ranges any number.
  if (bytes > 16 || (runtime.shadow[first >> 3] | runtime.shadow[(first + bytes - 1) >> 3]) != 0)
    runtime.access_poisoned(address, bytes, writes);
}

}  // namespace cpu
}  // namespace

extern "C" {
#define SACCADE_CALLED SACCADE_UNCHECKED __attribute__((used, visibility("hidden"))) void
#define SACCADE_ACCESSES(bytes)                                                                    \
  SACCADE_CALLED __tsan_read##bytes(void* at) { cpu::before_access(at, bytes, false); }            \
  SACCADE_CALLED __tsan_write##bytes(void* at) { cpu::before_access(at, bytes, true); }            \
  SACCADE_CALLED __tsan_unaligned_read##bytes(void*) __attribute__((alias("__tsan_read" #bytes))); \
  SACCADE_CALLED __tsan_unaligned_write##bytes(void*) __attribute__((alias("__tsan_write" #bytes)));
SACCADE_ACCESSES(1)
SACCADE_ACCESSES(2)
SACCADE_ACCESSES(4)
SACCADE_ACCESSES(8)
SACCADE_ACCESSES(16)
SACCADE_CALLED __tsan_read_range(void* at, size_t bytes) { cpu::before_access(at, bytes, false); }
SACCADE_CALLED __tsan_write_range(void* at, size_t bytes) { cpu::before_access(at, bytes, true); }
SACCADE_CALLED __tsan_init() {}
SACCADE_CALLED __tsan_func_entry(void*) {}
SACCADE_CALLED __tsan_func_exit() {}
#undef SACCADE_ACCESSES
#undef SACCADE_CALLED
}
#undef SACCADE_UNCHECKED
