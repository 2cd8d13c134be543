#pragma once

// Integer arithmetic of tilings, for positive numbers.
namespace saccade::cuda {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
/// The smallest multiple of B that is at least A.
constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }

}  // namespace saccade::cuda
