#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/limits/precision.hpp"

namespace saccade {

/// Arithmetic on registers alone, as much at a time as a core can have under way.
struct ComputeKernel {
  const char* instructions = "";
  Precision precision = Precision::kFloat32;
  double operations = 0;  ///< of one round
  void (*run)(std::int64_t rounds) = nullptr;
};

enum class Traffic : std::uint8_t {
  kRead,   ///< FROM
  kWrite,  ///< TO
  kCopy,   ///< FROM to TO
  kMixed,  ///< the sum of FROM and of what lies BYTES behind it to TO
};

/// One way to move memory. BYTES are a multiple of kStreamStep, TO and FROM of 64.
struct StreamKernel {
  const char* form = "";
  Traffic traffic = Traffic::kRead;
  void (*run)(std::byte* to, const std::byte* from, std::size_t bytes) = nullptr;

  /// Bytes read and written in all for an argument of 1 byte.
  double moved() const { return traffic == Traffic::kMixed ? 3 : traffic == Traffic::kCopy ? 2 : 1; }
};

inline constexpr std::size_t kStreamStep = 1024;

/// Those that the CPU can run.
std::vector<ComputeKernel> compute_kernels();
std::vector<StreamKernel> stream_kernels();

/// What every CPU can run, written in C++; as good as the compiler makes it.
std::vector<ComputeKernel> portable_compute_kernels();
std::vector<StreamKernel> portable_stream_kernels();

}  // namespace saccade
