#pragma once

#include "faults.cuh"
#include "launch.cuh"
#include "launch_sizes.hpp"

// saccade.TopClasses by one block: repeated argmax.

/// The best score of VALUES after LAST in descending order; index Count if there is none. Broadcast to every thread.
/// FAULTS collects those of the thread's own scores.
template <int Count, bool Softmax>
__device__ __forceinline__ Best next_best(const float* values, const Best& last, uint32& faults) {
  __shared__ Best found[kClassThreads / 32];
  Best best{-INFINITY, Count};
  for (int32 i = threadIdx.x; i < Count; i += kClassThreads) {
    const float value = values[i];
    if (Softmax)
      faults |= value < INFINITY ? 0 : kNanConfidence;
    else
      faults |= confidence_faults(value);
    const bool comes_after = value < last.value || (value == last.value && i > last.place);
    if (is_finite(value) && comes_after && value > best.value) best = {value, i};
  }
  best = best_of_warp(best);
  __syncthreads();
  if ((threadIdx.x & 31) == 0) found[threadIdx.x / 32] = best;
  __syncthreads();
  return best_of_warp(found[threadIdx.x & 31]);
}

/// The sum of exp(value - TOP) over finite values.
template <int Count>
__device__ __forceinline__ double exponentials(const float* values, float top) {
  __shared__ double sums[kClassThreads / 32];
  double sum = 0.0;
  for (int32 i = threadIdx.x; i < Count; i += kClassThreads)
    if (is_finite(values[i])) sum += exp(static_cast<double>(__fsub_rn(values[i], top)));
  for (int32 step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0;
  for (int32 i = 0; i < kClassThreads / 32; ++i) sum += sums[i];
  return sum;
}

template <int Count, int Rows, bool Softmax>
__device__ __forceinline__ void top_classes(const float* values, float conf, float* rows, int32* fault_bits) {
  __shared__ Best best[Rows];
  Best last{INFINITY, -1};
  uint32 faults = 0;
  int32 size = 0;
  for (; size < Rows; ++size) {
    last = next_best<Count, Softmax>(values, last, faults);
    if (last.place == Count) break;
    if (threadIdx.x == 0) best[size] = last;
  }
  faults = faults_of_block(faults);
  if (Softmax && size == 0) faults |= kNanConfidence;  // 0 / 0
  if (threadIdx.x == 0) *fault_bits = static_cast<int32>(faults);
  if ((faults & kNanConfidence) != 0) size = 0;
  __syncthreads();
  if (Softmax && size > 0) {
    const float top = best[0].value;
    const double sum = exponentials<Count>(values, top);
    if (static_cast<int32>(threadIdx.x) < size) {
      const float over = __fsub_rn(best[threadIdx.x].value, top);
      best[threadIdx.x].value = static_cast<float>(exp(static_cast<double>(over)) / sum);
    }
    __syncthreads();
  }
  while (size > 0 && !(best[size - 1].value > conf)) --size;
  const int32 row = threadIdx.x;
  if (row >= Rows) return;
  rows[2 * row] = row < size ? best[row].value : 0.0f;
  rows[2 * row + 1] = row < size ? static_cast<float>(best[row].place) : -1.0f;
}
