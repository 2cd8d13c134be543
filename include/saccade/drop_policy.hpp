#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

/// Which frame is dropped when a queue is full.
enum class DropPolicy : std::uint8_t {
  kAuto,    ///< files: kWait; live sources: kOldest with a queue of one
  kWait,    ///< none: the source waits
  kOldest,  ///< the oldest frame in the queue
  kNewest,  ///< the frame that just arrived
};
/// "auto", "wait", "oldest", "newest"
std::string_view to_string(DropPolicy policy) noexcept;

}  // namespace saccade
