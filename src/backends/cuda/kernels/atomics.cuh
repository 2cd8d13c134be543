#pragma once

#include "elements.cuh"

// Atomic read-modify-write of elements of any size, by compare-and-swap.

template <typename Word>
__device__ __forceinline__ Word exchanged(Word* at, Word expected, Word wanted) {
  return atomicCAS(at, expected, wanted);
}

/// *AT becomes FUNCTION(*AT). Elements of less than four bytes are swapped as part of their aligned word, so their
/// tensor begins and ends at a multiple of four.
template <typename T, typename Function>
__device__ __forceinline__ void change(T* at, const Function& function) {
  if constexpr (sizeof(T) == 8) {
    uint64* word = reinterpret_cast<uint64*>(at);
    uint64 seen = *word;
    for (;;) {
      T element;
      memcpy(&element, &seen, 8);
      element = Narrow<T>::from(function(widen(element)));
      uint64 wanted;
      memcpy(&wanted, &element, 8);
      const uint64 found = exchanged(word, seen, wanted);
      if (found == seen) return;
      seen = found;
    }
  } else {
    constexpr uint32 kBits = 8 * sizeof(T);
    constexpr uint32 kMask = sizeof(T) == 4 ? 0xFFFFFFFFU : (1U << (kBits % 32)) - 1;
    const uint64 address = reinterpret_cast<uint64>(at);
    uint32* word = reinterpret_cast<uint32*>(address & ~uint64(3));
    const uint32 shift = uint32(address & 3) * 8;
    uint32 seen = *word;
    for (;;) {
      const uint32 bits = seen >> shift & kMask;
      T element;
      memcpy(&element, &bits, sizeof(T));  // little-endian
      element = Narrow<T>::from(function(widen(element)));
      uint32 changed = 0;
      memcpy(&changed, &element, sizeof(T));
      const uint32 found = exchanged(word, seen, (seen & ~(kMask << shift)) | changed << shift);
      if (found == seen) return;
      seen = found;
    }
  }
}
