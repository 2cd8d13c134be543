#pragma once

#include <cstddef>
#include <vector>

#include "runtime/plan.hpp"

namespace saccade::cuda {

/// Where a launch runs: in a stream, after launches of others.
struct BranchStep {
  std::size_t stream = 0;
  std::vector<std::size_t> after;  ///< steps of other streams
  bool is_awaited = false;         ///< a step of another stream, or the end of the run, comes after it
};

/// Distributes the launches of a plan for several frames over streams: preprocessing and postprocessing of the images
/// do not depend on each other. The model runs in stream 0. Dependencies follow from the memory that the launches use,
/// scratch buffers included. By step; empty if one stream is enough.
std::vector<BranchStep> plan_branches(const Plan& plan);

/// The number of streams that BRANCHES use.
std::size_t streams_of(const std::vector<BranchStep>& branches);

}  // namespace saccade::cuda
