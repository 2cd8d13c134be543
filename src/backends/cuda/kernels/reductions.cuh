#pragma once

#include "lines.cuh"

// Lines that become one number each, or running sums. A rule has the State of elements seen so far: start(),
// of(element), join(two states), finish(state). T is what an element is computed as, S what sums are kept in: float,
// double, or uint64 of integers, which wrap around.

template <typename Lines, typename Rule, typename Load, typename Store>
__device__ __forceinline__ void reduce(void* shared, const Load& load, const Store& store) {
  const Team<Lines> team;
  auto state = Rule::start();
#pragma unroll 4
  for (int32 i = team.along; i < Lines::kCount; i += Lines::kAlong)
    state = Rule::join(state, Rule::of(load(Lines::place(team.line, i)), i));
  using State = decltype(state);
  state = combine<Lines>(state, shared, [](const State& a, const State& b) { return Rule::join(a, b); });
  if (team.active && team.along == 0) store(team.line, Rule::template finish<Lines::kCount>(state));
}

template <typename T, typename S>
struct Sum {
  static __device__ __forceinline__ S start() { return 0; }
  static __device__ __forceinline__ S of(T x, int32) { return S(x); }
  static __device__ __forceinline__ S join(S a, S b) { return a + b; }
  template <int kCount>
  static __device__ __forceinline__ S finish(S state) {
    return state;
  }
};
template <typename T, typename S>
struct Mean : Sum<T, S> {
  template <int kCount>
  static __device__ __forceinline__ S finish(S state) {
    return state / S(kCount);
  }
};
/// Of integers, as signed ones where T is.
template <typename T, typename S>
struct WholeMean : Sum<T, S> {
  template <int kCount>
  static __device__ __forceinline__ T finish(S state) {
    return T(-1) < T(0) ? T(int64(state) / kCount) : T(state / kCount);
  }
};
template <typename T, typename S>
struct Product : Sum<T, S> {
  static __device__ __forceinline__ S start() { return 1; }
  static __device__ __forceinline__ S join(S a, S b) { return a * b; }
};
template <typename T, typename S>
struct AbsoluteSum : Sum<T, S> {
  static __device__ __forceinline__ S of(T x, int32) { return x < T(0) ? S(0) - S(x) : S(x); }
};
template <typename T, typename S>
struct SquareSum : Sum<T, S> {
  static __device__ __forceinline__ S of(T x, int32) { return S(x) * S(x); }
};

/// The greatest or the least; a NaN stays.
template <typename T, bool kGreatest>
struct Extreme {
  static __device__ __forceinline__ T start() { return kGreatest ? least<T>() : most<T>(); }
  static __device__ __forceinline__ T of(T x, int32) { return x; }
  static __device__ __forceinline__ T join(T a, T b) { return kGreatest ? greater(a, b) : lesser(a, b); }
  template <int kCount>
  static __device__ __forceinline__ T finish(T state) {
    return state;
  }

 private:
  template <typename X>
  static __device__ __forceinline__ X most() {
    if constexpr (X(0.5) != X(0)) return infinity<X>();
    if constexpr (X(-1) > X(0)) return X(-1);
    return X((uint64(1) << (8 * sizeof(X) - 1)) - 1);
  }
  template <typename X>
  static __device__ __forceinline__ X least() {
    if constexpr (X(0.5) != X(0)) return -infinity<X>();
    if constexpr (X(-1) > X(0)) return X(0);
    return X(uint64(1) << (8 * sizeof(X) - 1));
  }
};

/// Those with a root or a logarithm are computed as real numbers: their states are float or double.
template <typename T, typename S>
struct Root : SquareSum<T, S> {
  template <int kCount>
  static __device__ __forceinline__ S finish(S state) {
    return sqrt(state);
  }
};
template <typename T, typename S>
struct LogSum : Sum<T, S> {
  template <int kCount>
  static __device__ __forceinline__ S finish(S state) {
    return log(state);
  }
};
/// The greatest element beside the sum of exponentials relative to it.
template <typename S>
struct ExponentialSum {
  S greatest;
  S sum;
};
template <typename T, typename S>
struct LogSumExp {
  using State = ExponentialSum<S>;
  static __device__ __forceinline__ State start() { return {-infinity<S>(), S(0)}; }
  static __device__ __forceinline__ State of(T x, int32) { return {S(x), S(1)}; }
  static __device__ __forceinline__ State join(const State& a, const State& b) {
    if (a.greatest == b.greatest) return {a.greatest, a.sum + b.sum};  // infinities have no difference
    if (b.greatest > a.greatest) return {b.greatest, a.sum * exp(a.greatest - b.greatest) + b.sum};
    return {a.greatest, a.sum + b.sum * exp(b.greatest - a.greatest)};
  }
  template <int kCount>
  static __device__ __forceinline__ S finish(const State& state) {
    return state.greatest + log(state.sum);
  }
};

/// The place of the greatest or least element; NaN beats every number. Of equal ones the first, or the LAST.
template <typename T>
struct Placed {
  T value;
  int32 place;
};
template <typename T, bool kGreatest, bool kLast>
struct PlaceOfExtreme {
  using State = Placed<T>;
  static __device__ __forceinline__ State start() { return {T(0), -1}; }
  static __device__ __forceinline__ State of(T x, int32 i) { return {x, i}; }
  static __device__ __forceinline__ State join(const State& a, const State& b) {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    if (beats(a.value, b.value)) return a;
    if (beats(b.value, a.value)) return b;
    return (a.place < b.place) != kLast ? a : b;
  }
  template <int kCount>
  static __device__ __forceinline__ int64 finish(const State& state) {
    return state.place;
  }

 private:
  static __device__ __forceinline__ bool beats(T x, T y) { return (kGreatest ? x > y : x < y) || (x != x && y == y); }
};

/// What all elements up to each one come to, a thread a line.
template <typename Lines, typename Rule, bool kExclusive, bool kReverse, typename Load, typename Store>
__device__ __forceinline__ void scan(const Load& load, const Store& store) {
  const Team<Lines> team;
  if (!team.active) return;
  auto state = Rule::start();
  for (int32 i = 0; i < Lines::kCount; ++i) {
    const int32 at = Lines::place(team.line, kReverse ? Lines::kCount - 1 - i : i);
    const auto before = state;
    state = Rule::join(state, Rule::of(load(at), i));
    store(at, kExclusive ? before : state);
  }
}
