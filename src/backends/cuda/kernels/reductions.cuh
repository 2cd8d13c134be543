#pragma once

#include "rows.cuh"

// Reductions of rows to one number, and scans. A rule has a state with identity(), map(element), combine(two states)
// and finish(state). T is the compute type, S the accumulator type: float, double, or uint64 for integers, which wrap
// around.

template <typename Rows, typename Rule, typename Load, typename Store>
__device__ __forceinline__ void reduce(void* shared, const Load& load, const Store& store) {
  const RowTeam<Rows> team;
  auto state = Rule::identity();
#pragma unroll 4
  for (int32 i = team.rank; i < Rows::kLength; i += Rows::kThreadsPerRow)
    state = Rule::combine(state, Rule::map(load(Rows::place(team.row, i)), i));
  using State = decltype(state);
  state = team_reduce<Rows>(state, shared, [](const State& a, const State& b) { return Rule::combine(a, b); });
  if (team.active && team.rank == 0) store(team.row, Rule::template finish<Rows::kLength>(state));
}

template <typename T, typename S>
struct Sum {
  static __device__ __forceinline__ S identity() { return 0; }
  static __device__ __forceinline__ S map(T x, int32) { return S(x); }
  static __device__ __forceinline__ S combine(S a, S b) { return a + b; }
  template <int kLength>
  static __device__ __forceinline__ S finish(S state) {
    return state;
  }
};
template <typename T, typename S>
struct Mean : Sum<T, S> {
  template <int kLength>
  static __device__ __forceinline__ S finish(S state) {
    return state / S(kLength);
  }
};
/// Integer mean, signed if T is.
template <typename T, typename S>
struct IntegerMean : Sum<T, S> {
  template <int kLength>
  static __device__ __forceinline__ T finish(S state) {
    return T(-1) < T(0) ? T(int64(state) / kLength) : T(state / kLength);
  }
};
template <typename T, typename S>
struct Product : Sum<T, S> {
  static __device__ __forceinline__ S identity() { return 1; }
  static __device__ __forceinline__ S combine(S a, S b) { return a * b; }
};
template <typename T, typename S>
struct AbsoluteSum : Sum<T, S> {
  static __device__ __forceinline__ S map(T x, int32) { return x < T(0) ? S(0) - S(x) : S(x); }
};
template <typename T, typename S>
struct SquareSum : Sum<T, S> {
  static __device__ __forceinline__ S map(T x, int32) { return S(x) * S(x); }
};

/// Maximum or minimum; propagates NaN.
template <typename T, bool kMax>
struct Extremum {
  static __device__ __forceinline__ T identity() { return kMax ? lowest<T>() : highest<T>(); }
  static __device__ __forceinline__ T map(T x, int32) { return x; }
  static __device__ __forceinline__ T combine(T a, T b) { return kMax ? max_nan(a, b) : min_nan(a, b); }
  template <int kLength>
  static __device__ __forceinline__ T finish(T state) {
    return state;
  }

 private:
  template <typename X>
  static __device__ __forceinline__ X highest() {
    if constexpr (X(0.5) != X(0)) return infinity<X>();
    if constexpr (X(-1) > X(0)) return X(-1);
    return X((uint64(1) << (8 * sizeof(X) - 1)) - 1);
  }
  template <typename X>
  static __device__ __forceinline__ X lowest() {
    if constexpr (X(0.5) != X(0)) return -infinity<X>();
    if constexpr (X(-1) > X(0)) return X(0);
    return X(uint64(1) << (8 * sizeof(X) - 1));
  }
};

/// Roots and logarithms are computed in float or double.
template <typename T, typename S>
struct L2Norm : SquareSum<T, S> {
  template <int kLength>
  static __device__ __forceinline__ S finish(S state) {
    return sqrt(state);
  }
};
template <typename T, typename S>
struct LogSum : Sum<T, S> {
  template <int kLength>
  static __device__ __forceinline__ S finish(S state) {
    return log(state);
  }
};
/// Running maximum and the sum of exponentials relative to it.
template <typename S>
struct ShiftedSum {
  S max;
  S sum;
};
template <typename T, typename S>
struct LogSumExp {
  using State = ShiftedSum<S>;
  static __device__ __forceinline__ State identity() { return {-infinity<S>(), S(0)}; }
  static __device__ __forceinline__ State map(T x, int32) { return {S(x), S(1)}; }
  static __device__ __forceinline__ State combine(const State& a, const State& b) {
    if (a.max == b.max) return {a.max, a.sum + b.sum};  // also for infinities, whose difference is NaN
    if (b.max > a.max) return {b.max, a.sum * exp(a.max - b.max) + b.sum};
    return {a.max, a.sum + b.sum * exp(b.max - a.max)};
  }
  template <int kLength>
  static __device__ __forceinline__ S finish(const State& state) {
    return state.max + log(state.sum);
  }
};

/// Index of the maximum or minimum. NaN beats every number; ties go to the first, or to the last if kLast.
template <typename T>
struct IndexedValue {
  T value;
  int32 index;
};
template <typename T, bool kMax, bool kLast>
struct ArgExtremum {
  using State = IndexedValue<T>;
  static __device__ __forceinline__ State identity() { return {T(0), -1}; }
  static __device__ __forceinline__ State map(T x, int32 i) { return {x, i}; }
  static __device__ __forceinline__ State combine(const State& a, const State& b) {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return (a.index < b.index) != kLast ? a : b;
  }
  template <int kLength>
  static __device__ __forceinline__ int64 finish(const State& state) {
    return state.index;
  }

 private:
  static __device__ __forceinline__ bool beats(T x, T y) { return (kMax ? x > y : x < y) || (x != x && y == y); }
};

/// Inclusive or exclusive scan, one thread per row.
template <typename Rows, typename Rule, bool kExclusive, bool kReverse, typename Load, typename Store>
__device__ __forceinline__ void scan(const Load& load, const Store& store) {
  const RowTeam<Rows> team;
  if (!team.active) return;
  auto state = Rule::identity();
  for (int32 i = 0; i < Rows::kLength; ++i) {
    const int32 at = Rows::place(team.row, kReverse ? Rows::kLength - 1 - i : i);
    const auto before = state;
    state = Rule::combine(state, Rule::map(load(at), i));
    store(at, kExclusive ? before : state);
  }
}
