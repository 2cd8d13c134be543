#pragma once

#include "rows.cuh"

// Softmax and normalisation of rows. LOAD(place) returns an element, STORE(place, x) takes one. Sums are float trees.

template <typename Rows, bool kLog, typename Load, typename Store>
__device__ __forceinline__ void softmax(void* shared, const Load& load, const Store& store) {
  const RowTeam<Rows> team;
  const RowSlice<Rows, float, Load> slice(team, load);
  float row_max = -infinity<float>();
  slice.for_each([&](int32, float x) { row_max = max_nan(row_max, x); });
  row_max = team_reduce<Rows>(row_max, shared, [](float a, float b) { return max_nan(a, b); });
  float sum = 0;
  slice.for_each([&](int32, float x) { sum += exp(x - row_max); });
  sum = team_reduce<Rows>(sum, shared, [](float a, float b) { return a + b; });
  const float log_sum = kLog ? log(sum) : 0.0f;
  const float factor = 1 / sum;
  if (!team.active) return;
  slice.for_each([&](int32 i, float x) {
    store(Rows::place(team.row, i), kLog ? x - row_max - log_sum : exp(x - row_max) * factor);
  });
}

/// (x - mean) / deviation if kCentered, else x / RMS. For a mean that is large relative to the deviation, the rounding
/// error of the mean is corrected by the mean of the residuals.
template <typename Rows, bool kCentered, typename Load, typename Store>
__device__ __forceinline__ void normalize(float epsilon, void* shared, const Load& load, const Store& store) {
  const auto add = [](float a, float b) { return a + b; };
  const RowTeam<Rows> team;
  const RowSlice<Rows, float, Load> slice(team, load);
  constexpr float kInverseLength = 1.0f / Rows::kLength;
  float mean = 0;
  if constexpr (kCentered) {
    slice.for_each([&](int32, float x) { mean += x; });
    mean = team_reduce<Rows>(mean, shared, add) * kInverseLength;
  }
  float rest = 0;
  float squares = 0;
  slice.for_each([&](int32, float x) {
    const float distance = x - mean;
    rest += distance;
    squares += distance * distance;
  });
  rest = kCentered ? team_reduce<Rows>(rest, shared, add) * kInverseLength : 0.0f;
  const float variance = team_reduce<Rows>(squares, shared, add) * kInverseLength - rest * rest;
  const float inverse = 1 / sqrt(variance + epsilon);
  if (!team.active) return;
  slice.for_each([&](int32 i, float x) { store(Rows::place(team.row, i), ((x - mean) - rest) * inverse); });
}
