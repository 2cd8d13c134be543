#pragma once

#include "elements.cuh"
#include "launch_sizes.hpp"

// Shared by the kernels that reduce or normalise rows, where a row runs along the reduced dimensions. The host writes a
// struct ROWS of constants:
//   kRows, kLength          number of rows, and elements of each
//   kRowsPerBlock           rows of a block, a power of two
//   kThreadsPerRow          threads that share one, a power of two
//   kContiguous             whether a row is contiguous; else adjacent rows are, and the lanes of a warp have rows of
//                           their own
//   place(row, i)           offset of element I of the output
//   source(row, i)          offset of element I of the input, which may be strided

/// INFINITY as a T.
template <typename T>
__device__ __forceinline__ T infinity() {
  return T(__int_as_float(0x7F800000));
}

/// This thread's row and its rank in the row's team.
template <typename Rows>
struct RowTeam {
  static constexpr int kThreads = Rows::kRowsPerBlock * Rows::kThreadsPerRow;

  int32 row;
  int32 rank;
  bool active;  ///< false beyond the last row: joins barriers, stores nothing

  __device__ __forceinline__ RowTeam() {
    const int32 thread = threadIdx.x;
    rank = Rows::kContiguous ? thread % Rows::kThreadsPerRow : thread / Rows::kRowsPerBlock;
    row = blockIdx.x * Rows::kRowsPerBlock +
          (Rows::kContiguous ? thread / Rows::kThreadsPerRow : thread % Rows::kRowsPerBlock);
    active = row < Rows::kRows;
    if (!active) row = Rows::kRows - 1;
  }
};

template <typename T>
constexpr bool kShuffles = false;
template <>
constexpr bool kShuffles<float> = true;
template <>
constexpr bool kShuffles<int32> = true;

/// Reduces by COMBINE over each team. Every member gets the result, which is bit-reproducible. SHARED has room for one
/// T per thread. Every thread of the block calls it.
template <typename Rows, typename T, typename Combine>
__device__ __forceinline__ T team_reduce(T mine, void* shared, const Combine& combine) {
  constexpr int kThreadsPerRow = Rows::kThreadsPerRow;
  if constexpr (kThreadsPerRow == 1) return mine;
  T* all = static_cast<T*>(shared);
  const int32 thread = threadIdx.x;
  if constexpr (Rows::kContiguous && kShuffles<T>) {
    constexpr int kLanes = kThreadsPerRow < 32 ? kThreadsPerRow : 32;
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) mine = combine(mine, __shfl_xor_sync(0xFFFFFFFFU, mine, lanes));
    if constexpr (kThreadsPerRow > 32) {
      constexpr int kWarps = kThreadsPerRow / 32;
      if (thread % 32 == 0) all[thread / 32] = mine;
      __syncthreads();
      const T* team = all + thread / kThreadsPerRow * kWarps;
      mine = team[0];
#pragma unroll
      for (int warp = 1; warp < kWarps; ++warp) mine = combine(mine, team[warp]);
      __syncthreads();  // before SHARED is reused
    }
    return mine;
  } else {
    constexpr int kStep = Rows::kContiguous ? 1 : Rows::kRowsPerBlock;
    const int32 rank = Rows::kContiguous ? thread % kThreadsPerRow : thread / Rows::kRowsPerBlock;
    all[thread] = mine;
    __syncthreads();
#pragma unroll
    for (int half = kThreadsPerRow / 2; half > 0; half /= 2) {
      if (rank < half) all[thread] = combine(all[thread], all[thread + half * kStep]);
      __syncthreads();
    }
    const T result = all[thread - rank * kStep];
    __syncthreads();
    return result;
  }
}

/// A thread's elements of its row, kept in registers if they fit.
template <typename Rows, typename T, typename Load>
class RowSlice {
 public:
  __device__ __forceinline__ RowSlice(const RowTeam<Rows>& team, const Load& load) : team_(team), load_(load) {
    if constexpr (kInRegisters) {
#pragma unroll
      for (int k = 0; k < kPerThread; ++k) {
        const int32 i = k * Rows::kThreadsPerRow + team.rank;
        if (i < Rows::kLength) registers_[k] = load(Rows::source(team.row, i));
      }
    }
  }

  /// Calls VISIT(i, element).
  template <typename Visit>
  __device__ __forceinline__ void for_each(const Visit& visit) const {
    if constexpr (kInRegisters) {
#pragma unroll
      for (int k = 0; k < kPerThread; ++k) {
        const int32 i = k * Rows::kThreadsPerRow + team_.rank;
        if (i < Rows::kLength) visit(i, registers_[k]);
      }
    } else {
#pragma unroll 4
      for (int32 i = team_.rank; i < Rows::kLength; i += Rows::kThreadsPerRow)
        visit(i, load_(Rows::source(team_.row, i)));
    }
  }

 private:
  static constexpr int kPerThread = (Rows::kLength + Rows::kThreadsPerRow - 1) / Rows::kThreadsPerRow;
  static constexpr bool kInRegisters = kPerThread <= kMaxRowRegisters;

  const RowTeam<Rows>& team_;
  const Load& load_;
  T registers_[kInRegisters && kPerThread > 0 ? kPerThread : 1];
};
