#pragma once

#include <optional>

#include "measure/live/run_monitor.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// A run at work.
struct RunState {
  std::optional<Summary> summary;  ///< nothing while its models are loaded
  ProcessState process;
  std::optional<GpuState> gpu;  ///< nothing if the run uses none
  int gpu_ordinal = 0;
};

}  // namespace saccade
