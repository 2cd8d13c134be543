#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/limits/operand_type.hpp"

namespace saccade {

/// Register-only arithmetic with enough parallelism for a core.
struct ComputeKernel {
  const char* instructions = "";
  OperandType precision = OperandType::kFloat32;
  double operations = 0;  ///< per round
  void (*run)(std::int64_t rounds) = nullptr;
};

enum class Traffic : std::uint8_t {
  kRead,   ///< FROM
  kWrite,  ///< TO
  kCopy,   ///< FROM to TO
  kMixed,  ///< the sum of FROM and of FROM + BYTES to TO
};

/// One way to move memory. BYTES are a multiple of kStreamStep, TO and FROM of 64.
struct StreamKernel {
  const char* form = "";
  Traffic traffic = Traffic::kRead;
  void (*run)(std::byte* to, const std::byte* from, std::size_t bytes) = nullptr;

  /// Bytes read and written in total per byte of the argument.
  double moved() const { return traffic == Traffic::kMixed ? 3 : traffic == Traffic::kCopy ? 2 : 1; }
};

inline constexpr std::size_t kStreamStep = 1024;

/// Kernels that the CPU supports.
std::vector<ComputeKernel> compute_kernels();
std::vector<StreamKernel> stream_kernels();

/// Portable C++ kernels; their speed depends on the compiler.
std::vector<ComputeKernel> portable_compute_kernels();
std::vector<StreamKernel> portable_stream_kernels();

}  // namespace saccade
