#pragma once

#include <optional>
#include <vector>

#include "measure/live/run_monitor.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// A run at work.
struct RunState {
  std::optional<Summary> summary;  ///< nothing while its models are loaded
  ProcessState process;
  std::vector<GpuUse> gpus;  ///< that the run uses
};

}  // namespace saccade
