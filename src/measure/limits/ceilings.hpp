#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/limits/precision.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// The most arithmetic that one kind of instruction, or one library, did. Operations a second; a multiply-add counts 2.
struct ComputeCeiling {
  std::string instructions;  ///< "AVX-512 FMA", "oneDNN matmul"
  Precision precision = Precision::kFloat32;
  double one_core = 0;
  double all = 0;  ///< all threads together
};

/// The most bytes per second that moved between a core's registers and a level of memory.
struct Bandwidth {
  double read = 0;
  double write = 0;
  double copy = 0;   ///< bytes read plus bytes written, as many of each
  double mixed = 0;  ///< bytes read plus bytes written in the best proportion that was tried

  /// Of whatever mix.
  double most() const;
};

/// One level of the memory hierarchy.
struct MemoryCeiling {
  std::string level;          ///< "L1d", "L2", "L3", "memory"
  std::int64_t capacity = 0;  ///< bytes of all threads' caches of this level together; 0: no limit
  Bandwidth one_core;
  Bandwidth all;  ///< all threads together
};

/// How long a GPU's host waits at least for so many bytes of its memory to be copied.
struct CopyCeiling {
  std::int64_t bytes = 0;
  Nanoseconds upload{};
  Nanoseconds download{};
};

/// What nothing on a device can exceed, as measured or as a file says.
struct Ceilings {
  std::string device;
  int threads = 1;
  std::vector<ComputeCeiling> compute;
  std::vector<MemoryCeiling> memory;  ///< the closest first; the last has no limit
  Nanoseconds clock{};                ///< reading the steady clock
  Nanoseconds syscall{};              ///< the cheapest call into the kernel
  Nanoseconds launch{};             ///< the smallest launch of a plan, the clock's reading included; on a GPU what one
                                    ///< more adds to a graph
  Nanoseconds parallel{};           ///< what waking and joining all threads adds to a launch
  Nanoseconds run{};                ///< on a GPU: launching a graph of one launch and waiting for it
  std::vector<CopyCeiling> copies;  ///< on a GPU, by size

  /// Operations a second of all threads together on operands of a precision: of the narrowest that the device has
  /// instructions for, among this one and wider ones. 0 where nothing is known.
  double peak(Precision precision) const;
  double peak_of_one_core(Precision precision) const;
  /// No launch of a plan takes less.
  Nanoseconds floor() const { return clock.count() > 0 ? clock : launch; }
};

/// Measures the CPU that this runs on, with as many threads as a plan would use (0: one per core), in under five
/// seconds. PROGRESS is called with the share that is done, 0 to 1. Every figure is the best of many short windows
/// spread over the whole time, since other programs may take the cores away. Throws Error where the cpu module is not
/// installed, or too little memory is free.
Ceilings measure_ceilings(int threads, const std::function<void(double share)>& progress = {});

/// Bytes to measure with on a machine whose caches hold so many together and where so many are free: more than the
/// caches hold, and half of what is free at most. Throws Error (kUnsupported) where that does not go together.
std::size_t ceiling_buffer_bytes(std::size_t caches, std::size_t free);

void raise(Bandwidth& bandwidth, const Bandwidth& other);
/// Takes from OTHER, measured on the same device, what is better.
void raise(Ceilings& ceilings, const Ceilings& other);

}  // namespace saccade
