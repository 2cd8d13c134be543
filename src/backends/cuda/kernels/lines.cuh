#pragma once

#include "elements.cuh"

// What kernels that reduce or normalise lines of a tensor have in common. The host writes a struct LINES of constants:
//   kLines, kCount          lines of the tensor, and the elements of each
//   kAcross, kAlong         lines of a block, and threads that share one: powers of two
//   kNeighbours             whether a line's elements lie side by side; else neighbouring lines do, and so the threads
//   of
//                           a warp have lines of their own
//   place(line, i)          where element I lies in memory
//   source(line, i)         where it lies in the input's: the same place, or in the memory of others

/// INFINITY as a T.
template <typename T>
__device__ __forceinline__ T infinity() {
  return T(__int_as_float(0x7F800000));
}

/// This thread's line and its place in the line's team.
template <typename Lines>
struct Team {
  static constexpr int kThreads = Lines::kAcross * Lines::kAlong;

  int32 line;
  int32 along;
  bool active;  ///< false past the last line: takes part in barriers, stores nothing

  __device__ __forceinline__ Team() {
    const int32 thread = threadIdx.x;
    along = Lines::kNeighbours ? thread % Lines::kAlong : thread / Lines::kAcross;
    line = blockIdx.x * Lines::kAcross + (Lines::kNeighbours ? thread / Lines::kAlong : thread % Lines::kAcross);
    active = line < Lines::kLines;
    if (!active) line = Lines::kLines - 1;
  }
};

template <typename T>
constexpr bool kShuffled = false;
template <>
constexpr bool kShuffled<float> = true;
template <>
constexpr bool kShuffled<int32> = true;

/// JOIN of what the threads of each team have, the same in all of them and in every run. SHARED has room for one T a
/// thread; every thread of the block calls it.
template <typename Lines, typename T, typename Join>
__device__ __forceinline__ T combine(T mine, void* shared, const Join& join) {
  constexpr int kAlong = Lines::kAlong;
  if constexpr (kAlong == 1) return mine;
  T* all = static_cast<T*>(shared);
  const int32 thread = threadIdx.x;
  if constexpr (Lines::kNeighbours && kShuffled<T>) {
    constexpr int kLanes = kAlong < 32 ? kAlong : 32;
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) mine = join(mine, __shfl_xor_sync(0xFFFFFFFFU, mine, lanes));
    if constexpr (kAlong > 32) {
      constexpr int kWarps = kAlong / 32;
      if (thread % 32 == 0) all[thread / 32] = mine;
      __syncthreads();
      const T* team = all + thread / kAlong * kWarps;
      mine = team[0];
#pragma unroll
      for (int warp = 1; warp < kWarps; ++warp) mine = join(mine, team[warp]);
      __syncthreads();  // before the room is used again
    }
    return mine;
  } else {
    constexpr int kStep = Lines::kNeighbours ? 1 : Lines::kAcross;
    const int32 along = Lines::kNeighbours ? thread % kAlong : thread / Lines::kAcross;
    all[thread] = mine;
    __syncthreads();
#pragma unroll
    for (int half = kAlong / 2; half > 0; half /= 2) {
      if (along < half) all[thread] = join(all[thread], all[thread + half * kStep]);
      __syncthreads();
    }
    const T result = all[thread - along * kStep];
    __syncthreads();
    return result;
  }
}

/// A thread's share of its line, read once where that fits into registers.
template <typename Lines, typename T, typename Load>
class Share {
 public:
  __device__ __forceinline__ Share(const Team<Lines>& team, const Load& load) : team_(team), load_(load) {
    if constexpr (kKept) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const int32 i = turn * Lines::kAlong + team.along;
        if (i < Lines::kCount) kept_[turn] = load(Lines::source(team.line, i));
      }
    }
  }

  /// Calls VISIT(i, element).
  template <typename Visit>
  __device__ __forceinline__ void each(const Visit& visit) const {
    if constexpr (kKept) {
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const int32 i = turn * Lines::kAlong + team_.along;
        if (i < Lines::kCount) visit(i, kept_[turn]);
      }
    } else {
#pragma unroll 4
      for (int32 i = team_.along; i < Lines::kCount; i += Lines::kAlong) visit(i, load_(Lines::source(team_.line, i)));
    }
  }

 private:
  static constexpr int kTurns = (Lines::kCount + Lines::kAlong - 1) / Lines::kAlong;
  static constexpr int kHeld = 32;
  static constexpr bool kKept = kTurns <= kHeld;

  const Team<Lines>& team_;
  const Load& load_;
  T kept_[kKept && kTurns > 0 ? kTurns : 1];
};
