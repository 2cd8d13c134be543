#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "media/frame_reader.hpp"

namespace saccade {

/// The source NAME, which OPEN opens. If it is missing, a live source of unknown size and rate that waits for it:
/// read() tries to open it every PERIOD and returns kTimeout with the reason until then. Its info() never changes, so
/// that any thread may read it: what depends on it (queues, warm-up) is decided before the source is there. An error
/// other than a missing or failing device is thrown, or loses the waiting source.
std::unique_ptr<FrameReader> open_or_wait(const std::string& name, OpenReader open,
                                          std::chrono::nanoseconds period = std::chrono::milliseconds(250));

}  // namespace saccade
