#pragma once

// Integer arithmetic of tilings, for positive numbers. The host's compiler and NVRTC both read this: no standard
// library.
namespace saccade::cuda {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
/// The smallest multiple of B that is at least A.
constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }
constexpr int max_of(int a, int b) { return a > b ? a : b; }
constexpr int min_of(int a, int b) { return a < b ? a : b; }

}  // namespace saccade::cuda
