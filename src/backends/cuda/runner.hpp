#pragma once

#include "cuda/device.hpp"
#include "runtime/plan.hpp"

namespace saccade::cuda {

/// Runs a plan on DEVICE: its inputs' upload, its launches and its outputs' download are one CUDA graph, captured here
/// and replayed by run() with one launch and one wait; a frame's samples, whose number changes from run to run, are
/// copied before it in the same stream. GRAPH false: it enqueues the same work call by call.
std::unique_ptr<Runner> make_runner(Device& device, const Plan& plan, bool graph);

}  // namespace saccade::cuda
