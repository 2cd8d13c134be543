#pragma once

// What plans of kernels count blocks and padding with; of positive numbers.
namespace saccade::cuda {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
/// The first multiple of B from A on.
constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }

}  // namespace saccade::cuda
