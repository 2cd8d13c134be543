#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Minimum or maximum, and the first or last of equal ones. A NaN counts as the extreme.
struct ArgRule {
  bool greatest = true;
  bool last = false;
};

/// Indices of the extremes along reduction rows of COUNT float32 elements, 1 to 2^31 - 1.
struct ArgKernels {
  /// One contiguous row.
  std::int64_t (*row)(ArgRule rule, const float* src, std::size_t count);
  /// COLUMNS interleaved rows: element i of row j is src[i * stride + j].
  void (*columns)(ArgRule rule, const float* src, std::size_t count, std::size_t stride, std::size_t columns,
                  std::int64_t* dst);
};

/// The kernels for this processor.
const ArgKernels& arg_kernels();

}  // namespace saccade::cpu
