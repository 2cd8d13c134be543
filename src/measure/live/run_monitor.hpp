#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda_backend.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// This process now; zeros where the system does not say.
struct ProcessState {
  std::chrono::duration<double> processor_time{};  ///< of all threads, since the start of the process
  std::int64_t resident_bytes = 0;
  std::int64_t threads = 0;
};
ProcessState process_state();

/// A GPU now.
struct GpuUse {
  int ordinal = 0;  ///< among the visible ones
  GpuState state;
};

/// What a run uses of the machine.
class RunMonitor {
 public:
  /// Of a run of MODELS on PipelineOptions::devices. The GPUs among these are watched: monitor_gpu(). Throws Error.
  RunMonitor(std::span<const Model> models, std::span<const Device> devices);

  /// Any thread.
  ProcessState process() const { return process_state(); }
  /// The GPUs, by their numbers; empty if the run uses none. Any thread.
  std::vector<GpuUse> gpus() const;

 private:
  std::map<int, std::unique_ptr<GpuMonitor>> gpus_;  ///< by number
};

}  // namespace saccade
