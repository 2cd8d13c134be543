#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

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

/// What a run uses of the machine.
class RunMonitor {
 public:
  /// Of a run of MODELS. If one of them runs on a GPU, it is watched: monitor_gpu(). Throws Error.
  explicit RunMonitor(std::span<const Model> models);

  /// Any thread.
  ProcessState process() const { return process_state(); }
  /// The GPU; nothing if the run uses none. Any thread.
  std::optional<GpuState> gpu() const;
  /// Its number among the visible ones.
  int gpu_ordinal() const { return ordinal_; }

 private:
  int ordinal_ = 0;
  std::unique_ptr<GpuMonitor> gpu_;  ///< null: none
};

}  // namespace saccade
