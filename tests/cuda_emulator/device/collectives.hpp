#pragma once

// Block- and warp-wide operations. Threads wait until all have arrived; the last one computes everyone's result. Lanes
// that have exited or are not in the mask contribute poison.
namespace {

namespace cpu {

inline unsigned thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned lane_number() { return thread_number() % 32; }

/// In: a predicate. Out: how many threads hold it, and how many are present.
inline void count_threads(void* const* members, unsigned count) {
  int holding = 0;
  int present = 0;
  for (unsigned i = 0; i < count; ++i)
    if (members[i] != nullptr) ++present, holding += static_cast<int*>(members[i])[0];
  for (unsigned i = 0; i < count; ++i)
    if (members[i] != nullptr) static_cast<int*>(members[i])[0] = holding, static_cast<int*>(members[i])[1] = present;
}
template <typename T>
struct Shuffled {
  T given;
  int from;  ///< source lane
  T taken;
};
template <typename T>
inline void take_from_lanes(void* const* lanes, unsigned) {
  for (unsigned i = 0; i < 32; ++i) {
    if (lanes[i] == nullptr) continue;
    auto& mine = *static_cast<Shuffled<T>*>(lanes[i]);
    const auto* other = static_cast<const Shuffled<T>*>(lanes[mine.from]);
    if (other != nullptr)
      mine.taken = other->given;
    else
      __builtin_memset(&mine.taken, 0xFF, sizeof mine.taken);
  }
}
template <typename T>
inline T shuffle(const Site& site, unsigned mask, T value, int from) {
  Shuffled<T> mine{value, from, value};
  runtime.wait_warp(site, mask, &mine, take_from_lanes<T>);
  return mine.taken;
}
/// First lane of this lane's segment of WIDTH lanes.
inline int first_of(int width) { return static_cast<int>(lane_number()) & ~(width - 1); }

struct Vote {
  bool predicate;
  unsigned holding, present;
};
inline void count_votes(void* const* lanes, unsigned) {
  Vote all{};
  for (unsigned i = 0; i < 32; ++i)
    if (lanes[i] != nullptr) {
      all.present |= 1U << i;
      if (static_cast<Vote*>(lanes[i])->predicate) all.holding |= 1U << i;
    }
  for (unsigned i = 0; i < 32; ++i)
    if (lanes[i] != nullptr) *static_cast<Vote*>(lanes[i]) = all;
}
inline Vote vote(const Site& site, unsigned mask, bool predicate) {
  Vote mine{predicate, 0, 0};
  runtime.wait_warp(site, mask, &mine, count_votes);
  return mine;
}

template <typename T>
struct Reduced {
  T value;
  T (*operation)(T, T);
};
template <typename T>
inline void reduce_lanes(void* const* lanes, unsigned) {
  const Reduced<T>* first = nullptr;
  T value{};
  for (unsigned i = 0; i < 32; ++i) {
    const auto* lane = static_cast<const Reduced<T>*>(lanes[i]);
    if (lane == nullptr) continue;
    value = first == nullptr ? lane->value : lane->operation(value, lane->value);
    first = lane;
  }
  for (unsigned i = 0; i < 32; ++i)
    if (lanes[i] != nullptr) static_cast<Reduced<T>*>(lanes[i])->value = value;
}

}  // namespace cpu

#define SACCADE_PLACE int line = __builtin_LINE(), const char *file = __builtin_FILE()

inline void __syncthreads(SACCADE_PLACE) { cpu::runtime.wait_block({"__syncthreads", file, line}, nullptr, nullptr); }
inline void __syncwarp(unsigned mask = ~0U, SACCADE_PLACE) {
  cpu::runtime.wait_warp({"__syncwarp", file, line}, mask, nullptr, nullptr);
}

inline int __syncthreads_count(int predicate, SACCADE_PLACE) {
  int mine[2] = {predicate != 0, 0};
  cpu::runtime.wait_block({"__syncthreads_count", file, line}, mine, cpu::count_threads);
  return mine[0];
}
inline int __syncthreads_or(int predicate, SACCADE_PLACE) {
  int mine[2] = {predicate != 0, 0};
  cpu::runtime.wait_block({"__syncthreads_or", file, line}, mine, cpu::count_threads);
  return mine[0] > 0;
}
inline int __syncthreads_and(int predicate, SACCADE_PLACE) {
  int mine[2] = {predicate != 0, 0};
  cpu::runtime.wait_block({"__syncthreads_and", file, line}, mine, cpu::count_threads);
  return mine[0] == mine[1];
}

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int from, int width = 32, SACCADE_PLACE) {
  return cpu::shuffle({"__shfl_sync", file, line}, mask, value, cpu::first_of(width) + (from & (width - 1)));
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, SACCADE_PLACE) {
  const int me = static_cast<int>(cpu::lane_number());
  const int from = me ^ lanes;
  return cpu::shuffle({"__shfl_xor_sync", file, line}, mask, value, from < cpu::first_of(width) + width ? from : me);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, SACCADE_PLACE) {
  const int me = static_cast<int>(cpu::lane_number());
  const int from = me + static_cast<int>(by);
  return cpu::shuffle({"__shfl_down_sync", file, line}, mask, value, from < cpu::first_of(width) + width ? from : me);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, SACCADE_PLACE) {
  const int me = static_cast<int>(cpu::lane_number());
  const int from = me - static_cast<int>(by);
  return cpu::shuffle({"__shfl_up_sync", file, line}, mask, value, from >= cpu::first_of(width) ? from : me);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, SACCADE_PLACE) {
  return cpu::vote({"__ballot_sync", file, line}, mask, predicate != 0).holding;
}
inline int __any_sync(unsigned mask, int predicate, SACCADE_PLACE) {
  return cpu::vote({"__any_sync", file, line}, mask, predicate != 0).holding != 0;
}
inline int __all_sync(unsigned mask, int predicate, SACCADE_PLACE) {
  const cpu::Vote all = cpu::vote({"__all_sync", file, line}, mask, predicate != 0);
  return all.holding == all.present;
}

/// __reduce_NAME_sync of T: reduces the lanes' values x and y by OPERATION.
#define SACCADE_REDUCTION(name, type, operation)                                                           \
  inline type __reduce_##name##_sync(unsigned mask, type value, SACCADE_PLACE) {                           \
    constexpr auto kOperation = [](type x, type y) -> type { return operation; };                          \
    cpu::Reduced<type> mine{value, kOperation};                                                            \
    cpu::runtime.wait_warp({"__reduce_" #name "_sync", file, line}, mask, &mine, cpu::reduce_lanes<type>); \
    return mine.value;                                                                                     \
  }
SACCADE_REDUCTION(add, int, x + y)
SACCADE_REDUCTION(add, unsigned, x + y)
SACCADE_REDUCTION(min, int, min(x, y))
SACCADE_REDUCTION(min, unsigned, min(x, y))
SACCADE_REDUCTION(max, int, max(x, y))
SACCADE_REDUCTION(max, unsigned, max(x, y))
SACCADE_REDUCTION(and, unsigned, x& y)
SACCADE_REDUCTION(or, unsigned, x | y)
SACCADE_REDUCTION(xor, unsigned, x ^ y)
#undef SACCADE_REDUCTION

}  // namespace
