#pragma once

#include <cstdint>

namespace saccade {

/// A / B, rounded up. A is not negative, B is positive.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// The least multiple of B that is A or more.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

}  // namespace saccade
