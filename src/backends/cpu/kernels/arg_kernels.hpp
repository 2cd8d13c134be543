#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Which extreme to look for, and which of equal ones. A NaN counts as the extreme.
struct ArgRule {
  bool greatest = true;
  bool last = false;
};

/// Places of the extremes of float32 elements along lines of COUNT, at least 1 and fewer than 2^31.
struct ArgKernels {
  /// Of one contiguous line.
  std::int64_t (*row)(ArgRule rule, const float* src, std::size_t count);
  /// Of COLUMNS neighbouring lines: element i of line j stands at src[i * stride + j].
  void (*columns)(ArgRule rule, const float* src, std::size_t count, std::size_t stride, std::size_t columns,
                  std::int64_t* dst);
};

/// For this processor.
const ArgKernels& arg_kernels();

}  // namespace saccade::cpu
