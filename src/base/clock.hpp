#pragma once

#include <chrono>

namespace saccade {

using Clock = std::chrono::steady_clock;

inline double to_milliseconds(std::chrono::duration<double, std::nano> time) { return time.count() / 1e6; }

}  // namespace saccade
