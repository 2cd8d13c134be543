#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/limits/operand_type.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// Peak arithmetic of one instruction or one library, in operations per second; a multiply-add counts as 2.
struct ComputeCeiling {
  std::string instructions;  ///< "AVX-512 FMA", "oneDNN matmul"
  OperandType precision = OperandType::kFloat32;
  double one_core = 0;
  double all = 0;  ///< of all threads
};

/// Peak bandwidth between a core's registers and a level of memory, in bytes per second.
struct Bandwidth {
  double read = 0;
  double write = 0;
  double copy = 0;   ///< bytes read plus bytes written, in equal parts
  double mixed = 0;  ///< bytes read plus bytes written in the best measured proportion

  /// The maximum over all mixes.
  double most() const;
};

/// One level of the memory hierarchy.
struct MemoryCeiling {
  std::string level;          ///< "L1d", "L2", "L3", "memory"
  std::int64_t capacity = 0;  ///< total bytes of all threads' caches of this level; 0: unlimited
  Bandwidth one_core;
  Bandwidth all;  ///< of all threads
};

/// The least time of a synchronous copy of so many bytes to or from a GPU.
struct CopyCeiling {
  std::int64_t bytes = 0;
  Nanoseconds upload{};
  Nanoseconds download{};
};

/// The ceilings of a device, measured or read from a file.
struct Ceilings {
  std::string device;
  int threads = 1;
  std::vector<ComputeCeiling> compute;
  std::vector<MemoryCeiling> memory;  ///< closest first; the last is unlimited
  Nanoseconds clock{};                ///< reading the steady clock
  Nanoseconds syscall{};              ///< the cheapest system call
  Nanoseconds launch{};               ///< the smallest launch of a plan, including reading the clock; on a GPU what one
                                      ///< more adds to a graph
  Nanoseconds parallel{};             ///< waking and joining all threads, per launch
  Nanoseconds run{};                  ///< on a GPU: a graph with one launch, launched and waited for
  std::vector<CopyCeiling> copies;    ///< on a GPU, by size
  bool winograd = false;              ///< whether there are kernels of Winograd's F(4x4, 3x3) in float32

  /// Operations per second of all threads on operands of a precision: of the narrowest type with instructions among
  /// this and wider ones. 0 if unknown.
  double peak(OperandType precision) const;
  /// The same of Work::winograd_products, of which F(4x4, 3x3) computes a quarter: it takes 36 multiplications for 16
  /// outputs of 9 taps (Lavin and Gray, https://arxiv.org/abs/1509.09308).
  double winograd_peak(OperandType precision) const;
  /// The least time of a launch.
  Nanoseconds floor() const { return clock.count() > 0 ? clock : launch; }
};

/// Measures the CPU, with as many threads as a plan would use (0: one per available processor), in under five seconds.
/// PROGRESS receives the completed share, 0 to 1. Every ceiling is the best of many short windows spread over the whole
/// time, since other programs may take the cores away. Throws Error if the cpu module is not installed, or too little
/// memory is free.
Ceilings measure_ceilings(int threads, const std::function<void(double share)>& progress = {});

/// Buffer size for measurements, given the total capacity of the caches and the free memory: more than the caches hold,
/// and at most half of what is free. Throws Error (kUnsupported) if that is impossible.
std::size_t ceiling_buffer_bytes(std::size_t caches, std::size_t free);

void raise(Bandwidth& bandwidth, const Bandwidth& other);
/// Takes better values from OTHER, measured on the same device.
void raise(Ceilings& ceilings, const Ceilings& other);

}  // namespace saccade
