#pragma once

#include <chrono>

namespace saccade {

using Clock = std::chrono::steady_clock;

}  // namespace saccade
