#pragma once

#include "launch.cuh"
#include "types.cuh"

// Functions of one element, as ONNX and the reference kernels define them. Arithmetic is in the argument's type.

/// INDEX along a dimension of DIM elements, counted from its start. One outside goes to FAULT, and becomes the nearest
/// inside.
__device__ __forceinline__ int32 checked_index(int64 index, int64 dim, volatile int64* fault) {
  const int64 at = index < 0 ? index + dim : index;
  if (at >= 0 && at < dim) return int32(at);
  *fault = index;
  return at < 0 ? 0 : int32(dim - 1);
}

/// Each rounds by itself, even behind a product that the compiler would take together with it: a kernel of several
/// operators answers as one of each does.
__device__ __forceinline__ float sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float difference(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double difference(double a, double b) { return __dadd_rn(a, -b); }

/// Integers are cut off towards zero and to what T holds; NaN becomes 0.
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
/// The lesser, or the greater; a NaN on either side stays.
template <typename T>
__device__ __forceinline__ T lesser(T a, T b) {
  return b < a || b != b ? b : a;
}
template <typename T>
__device__ __forceinline__ T greater(T a, T b) {
  return a < b || b != b ? b : a;
}
template <typename T>
__device__ __forceinline__ T clipped(T x, T low, T high) {
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
  return clipped(alpha * x + beta, T(0), T(1));
}
template <typename T>
__device__ __forceinline__ T hard_swish(T x) {
  return x * clipped(x / T(6) + T(0.5), T(0), T(1));
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

/// Integers: dividing by zero gives zero, and the least one by -1 wraps.
template <typename T>
__device__ __forceinline__ T whole_quotient(T a, T b) {
  if (b == T(0)) return T(0);
  if (T(-1) < T(0) && b == T(-1)) return T(uint64(0) - uint64(a));
  return T(a / b);
}
/// Python's remainder, which has the divisor's sign.
template <typename T>
__device__ __forceinline__ T whole_remainder(T a, T b) {
  if (b == T(0)) return T(0);
  if (T(-1) < T(0) && b == T(-1)) return T(0);
  const T rest = T(a % b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? T(rest + b) : rest;
}
template <typename T>
__device__ __forceinline__ T remainder_of(T a, T b) {
  const T rest = fmod(a, b);
  if (rest == T(0)) return copysign(rest, b);
  return (rest < T(0)) != (b < T(0)) ? rest + b : rest;
}
template <typename T>
__device__ __forceinline__ T power(T base, T exponent) {
  return exponent == T(2) ? base * base : pow(base, exponent);
}
