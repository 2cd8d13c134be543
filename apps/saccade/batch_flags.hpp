#pragma once

#include <chrono>
#include <cstddef>

#include "flags/binder.hpp"

namespace saccade::app {

/// Binds --batch to BATCH (auto: 0) and --batch-wait to WAIT.
void bind_batch(FlagBinder& binder, std::size_t& batch, std::chrono::nanoseconds& wait);

}  // namespace saccade::app
