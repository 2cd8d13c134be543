#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

/// Which frame gives way when a queue is full.
enum class DropPolicy : std::uint8_t {
  kAuto,    ///< files wait, live sources drop the oldest of a queue of one
  kWait,    ///< none: the source waits
  kOldest,  ///< the one that has waited longest, so that the newest frame wins
  kNewest,  ///< the one that just arrived
};

}  // namespace saccade
