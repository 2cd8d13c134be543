#pragma once

#include "lines.cuh"

// Lines that become as long as they were: softmax, and what is brought to a mean of 0 and a deviation of 1. LOAD(place)
// gives an element, STORE(place, x) takes one. Sums are float trees.

template <typename Lines, bool kLog, typename Load, typename Store>
__device__ __forceinline__ void soften(void* shared, const Load& load, const Store& store) {
  const Team<Lines> team;
  const Share<Lines, float, Load> share(team, load);
  float highest = -infinity<float>();
  share.each([&](int32, float x) { highest = greater(highest, x); });
  highest = combine<Lines>(highest, shared, [](float a, float b) { return greater(a, b); });
  float sum = 0;
  share.each([&](int32, float x) { sum += exp(x - highest); });
  sum = combine<Lines>(sum, shared, [](float a, float b) { return a + b; });
  const float log_sum = kLog ? log(sum) : 0.0f;
  const float factor = 1 / sum;
  if (!team.active) return;
  share.each([&](int32 i, float x) {
    store(Lines::place(team.line, i), kLog ? x - highest - log_sum : exp(x - highest) * factor);
  });
}

/// (x - mean) / deviation where CENTRED, else x / root of the mean of squares. A mean may be large beside the
/// deviation: what float holds of it is corrected by the mean of the distances from it.
template <typename Lines, bool kCentred, typename Load, typename Store>
__device__ __forceinline__ void normalize(float epsilon, void* shared, const Load& load, const Store& store) {
  const auto add = [](float a, float b) { return a + b; };
  const Team<Lines> team;
  const Share<Lines, float, Load> share(team, load);
  constexpr float kShare = 1.0f / Lines::kCount;
  float mean = 0;
  if constexpr (kCentred) {
    share.each([&](int32, float x) { mean += x; });
    mean = combine<Lines>(mean, shared, add) * kShare;
  }
  float rest = 0;
  float squares = 0;
  share.each([&](int32, float x) {
    const float distance = x - mean;
    rest += distance;
    squares += distance * distance;
  });
  rest = kCentred ? combine<Lines>(rest, shared, add) * kShare : 0.0f;
  const float variance = combine<Lines>(squares, shared, add) * kShare - rest * rest;
  const float inverse = 1 / sqrt(variance + epsilon);
  if (!team.active) return;
  share.each([&](int32 i, float x) { store(Lines::place(team.line, i), ((x - mean) - rest) * inverse); });
}
