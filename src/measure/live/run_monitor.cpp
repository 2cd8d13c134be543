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

RunMonitor::RunMonitor(std::span<const Model> models, std::span<const Device> devices) {
  const auto watch = [this](const Device& device) {
    if (device.kind != Device::Kind::kCuda || gpus_.contains(device.ordinal)) return;
    if (auto monitor = monitor_gpu(device.ordinal)) gpus_[device.ordinal] = std::move(monitor);
  };
  for (const Device& device : devices) watch(device);
  for (const Model& model : models)
    if (devices.empty()) watch(model.options().device);
}

std::vector<GpuUse> RunMonitor::gpus() const {
  std::vector<GpuUse> all;
  for (const auto& [ordinal, monitor] : gpus_) all.push_back({ordinal, monitor->read()});
  return all;
}

}  // namespace saccade
