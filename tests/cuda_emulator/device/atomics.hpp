#pragma once

// One host thread runs all device threads and switches at synchronisation points only, so plain operations are atomic.
namespace {

namespace cpu {

template <typename T>
inline T exchange_atomically(T* address, T value) {
  const T old = *address;
  *address = value;
  return old;
}

}  // namespace cpu

#define SACCADE_ATOMICS(type)                                                                                      \
  inline type atomicAdd(type* address, type value) { return cpu::exchange_atomically(address, *address + value); } \
  inline type atomicExch(type* address, type value) { return cpu::exchange_atomically(address, value); }
#define SACCADE_INTEGER_ATOMICS(type)                                                                                  \
  SACCADE_ATOMICS(type)                                                                                                \
  inline type atomicSub(type* address, type value) { return cpu::exchange_atomically(address, *address - value); }     \
  inline type atomicMax(type* address, type value) { return cpu::exchange_atomically(address, max(*address, value)); } \
  inline type atomicMin(type* address, type value) { return cpu::exchange_atomically(address, min(*address, value)); } \
  inline type atomicAnd(type* address, type value) { return cpu::exchange_atomically(address, *address & value); }     \
  inline type atomicOr(type* address, type value) { return cpu::exchange_atomically(address, *address | value); }      \
  inline type atomicXor(type* address, type value) { return cpu::exchange_atomically(address, *address ^ value); }     \
  inline type atomicCAS(type* address, type expected, type value) {                                                    \
    return cpu::exchange_atomically(address, *address == expected ? value : *address);                                 \
  }
SACCADE_INTEGER_ATOMICS(int)
SACCADE_INTEGER_ATOMICS(unsigned)
SACCADE_INTEGER_ATOMICS(unsigned long long)
SACCADE_ATOMICS(float)
SACCADE_ATOMICS(double)
#undef SACCADE_INTEGER_ATOMICS
#undef SACCADE_ATOMICS
/// Wraps to 0 beyond LIMIT.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return cpu::exchange_atomically(address, *address >= limit ? 0 : *address + 1);
}

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) {}
inline long long clock64() {
  static long long clock = 0;
  return ++clock;
}
inline int clock() { return static_cast<int>(clock64()); }

}  // namespace
