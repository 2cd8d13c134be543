#pragma once

#include "launch.cuh"
#include "types.cuh"

// Element-wise functions as ONNX and the reference kernels define them, computed in the argument's type.

/// INDEX of a dimension of DIM elements, counted from its start. An index out of range is stored in REPORT and clamped.
__device__ __forceinline__ int32 checked_index(int64 index, int64 dim, volatile int64* report) {
  const int64 at = index < 0 ? index + dim : index;
  if (at >= 0 && at < dim) return int32(at);
  *report = index;
  return at < 0 ? 0 : int32(dim - 1);
}

/// Rounded separately, never contracted to an FMA: a fused kernel gives the same result as one kernel per operator.
__device__ __forceinline__ float sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float difference(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double difference(double a, double b) { return __dadd_rn(a, -b); }

/// Conversion to integers: truncates towards zero and saturates; NaN becomes 0.
template <typename T>
__device__ __forceinline__ T saturated(double x, double lowest, double highest, T least, T most) {
  if (x != x) return T(0);
  if (x >= highest) return most;
  if (x <= lowest) return least;
  return T(x);
}

template <typename T>
__device__ __forceinline__ T relu(T x) {
  return x < T(0) ? T(0) : x;  // keeps NaN
}
template <typename T>
__device__ __forceinline__ T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
/// Minimum and maximum that propagate NaN.
template <typename T>
__device__ __forceinline__ T min_nan(T a, T b) {
  return b < a || b != b ? b : a;
}
template <typename T>
__device__ __forceinline__ T max_nan(T a, T b) {
  return a < b || b != b ? b : a;
}
#if !defined(SACCADE_EMULATED) && __CUDA_ARCH__ >= 800
// One instruction instead of two comparisons and a selection.
__device__ __forceinline__ float min_nan(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
__device__ __forceinline__ float max_nan(float a, float b) {
  float greatest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
  return greatest;
}
#endif
template <typename T>
__device__ __forceinline__ T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
template <typename T>
__device__ __forceinline__ T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}
template <typename T>
__device__ __forceinline__ T silu(T x) {
  return x / (T(1) + exp(-x));
}
template <typename T>
__device__ __forceinline__ T swish(T x, T alpha) {
  return x / (T(1) + exp(-alpha * x));
}
template <typename T>
__device__ __forceinline__ T softplus(T x) {
  return log1p(exp(-fabs(x))) + (x > T(0) ? x : T(0));
}
template <typename T>
__device__ __forceinline__ T gelu(T x) {
  return x / T(2) * (T(1) + erf(x * T(0.70710678118654752440)));
}
template <typename T>
__device__ __forceinline__ T gelu_by_tanh(T x) {
  return x / T(2) * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}
template <typename T>
__device__ __forceinline__ T hard_sigmoid(T x, T alpha, T beta) {
  return clamp(alpha * x + beta, T(0), T(1));
}
template <typename T>
__device__ __forceinline__ T hard_swish(T x) {
  return x * clamp(x / T(6) + T(0.5), T(0), T(1));
}
template <typename T>
__device__ __forceinline__ T elu(T x, T alpha) {
  return x < T(0) ? alpha * expm1(x) : x;
}
template <typename T>
__device__ __forceinline__ T celu(T x, T alpha) {
  return x < T(0) ? alpha * expm1(x / alpha) : x;
}
template <typename T>
__device__ __forceinline__ T selu(T x, T alpha, T gamma) {
  return gamma * (x < T(0) ? alpha * expm1(x) : x);
}
template <typename T>
__device__ __forceinline__ T leaky_relu(T x, T alpha) {
  return x < T(0) ? alpha * x : x;
}
template <typename T>
__device__ __forceinline__ T thresholded_relu(T x, T alpha) {
  return x <= alpha ? T(0) : x;  // keeps NaN
}
template <typename T>
__device__ __forceinline__ T shrink(T x, T bias, T lambda) {
  return x < -lambda ? x + bias : x > lambda ? x - bias : x != x ? x : T(0);
}

/// Integer division: by zero gives zero; the lowest value by -1 wraps around.
template <typename T>
__device__ __forceinline__ T integer_quotient(T a, T b) {
  if (b == T(0)) return T(0);
  if (T(-1) < T(0) && b == T(-1)) return T(uint64(0) - uint64(a));
  return T(a / b);
}
/// Python's remainder, which has the divisor's sign.
template <typename T>
__device__ __forceinline__ T integer_remainder(T a, T b) {
  if (b == T(0)) return T(0);
  if (T(-1) < T(0) && b == T(-1)) return T(0);
  const T rest = T(a % b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? T(rest + b) : rest;
}
/// A shift by the type's width or more, or by a negative count, leaves copies of the sign.
template <typename T>
__device__ __forceinline__ T shifted(T x, T by, bool left) {
  if (by < T(0) || uint64(by) >= 8 * sizeof(T)) return T(!left && x < T(0) ? -1 : 0);
  return left ? T(uint64(x) << by) : T(x >> by);
}
template <typename T>
__device__ __forceinline__ T float_remainder(T a, T b) {
  const T rest = fmod(a, b);
  if (rest == T(0)) return copysign(rest, b);
  return (rest < T(0)) != (b < T(0)) ? rest + b : rest;
}
template <typename T>
__device__ __forceinline__ T power(T base, T exponent) {
  return exponent == T(2) ? base * base : pow(base, exponent);
}
