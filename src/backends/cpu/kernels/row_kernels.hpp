#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// The function of a reduction.
enum class Reduce : std::uint8_t { kSum, kMean, kMax, kMin, kL1, kL2, kSumSquare };

/// Float32 kernels over one contiguous row, or over COLUMNS interleaved rows, in which element i of row j is
/// src[i * stride + j].
struct RowKernels {
  /// dst = softmax(src) over COUNT elements (its logarithm if LOG). DST may be SRC.
  void (*softmax_row)(const float* src, float* dst, std::size_t count, bool log);
  void (*softmax_columns)(const float* src, float* dst, std::size_t count, std::size_t stride, std::size_t columns,
                          bool log);
  /// row = e^(row - shift); returns their sum.
  float (*exp_row)(float* row, std::size_t count, float shift);
  /// dst = (src - mean) / sqrt(variance + epsilon) * scale + bias; BIAS may be null.
  void (*layer_norm_row)(const float* src, float* dst, std::size_t count, const float* scale, const float* bias,
                         float epsilon);
  /// dst = src / sqrt(mean of src^2 + epsilon) * scale
  void (*rms_norm_row)(const float* src, float* dst, std::size_t count, const float* scale, float epsilon);
  /// COUNT is at least 1.
  float (*reduce_row)(Reduce reduce, const float* src, std::size_t count);
  void (*reduce_columns)(Reduce reduce, const float* src, std::size_t count, std::size_t stride, std::size_t columns,
                         float* dst);
};

/// The kernels for this processor.
const RowKernels& row_kernels();

}  // namespace saccade::cpu
