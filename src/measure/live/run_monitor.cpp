#include "measure/live/run_monitor.hpp"

#include <sys/resource.h>

#include "measure/bench/process_memory.hpp"

namespace saccade {

ProcessState process_state() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto time_of = [](const timeval& time) {
    return std::chrono::duration<double>(static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec));
  };
  const ProcessSize size = process_size();
  return {.processor_time = time_of(usage.ru_utime) + time_of(usage.ru_stime),
          .resident_bytes = size.resident_bytes,
          .threads = size.threads};
}

RunMonitor::RunMonitor(std::span<const Model> models) {
  for (const Model& model : models) {
    const Device& device = model.options().device;
    if (device.kind != Device::Kind::kCuda || gpu_ != nullptr) continue;
    ordinal_ = device.ordinal;
    gpu_ = monitor_gpu(ordinal_);
  }
}

std::optional<GpuState> RunMonitor::gpu() const {
  if (gpu_ == nullptr) return {};
  return gpu_->read();
}

}  // namespace saccade
