#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cuda/executor/graph_executor.hpp"

namespace saccade::cuda {

/// A plan with other launches, timed in a stream and a graph of its own on the tensors of its executor.
class DeviceVariant : public Variant {
 public:
  struct Work {
    std::string name;
    std::vector<Copy> inputs;
    std::vector<Copy> outputs;
    std::span<const FrameView> frames;  ///< those that BIND binds
    std::size_t scratch_bytes = 0;
    bool graph = true;
  };
  using Bind = std::function<BoundLaunches(std::byte* scratch, Queue& queue)>;

  DeviceVariant(Device& device, const Work& work, const Bind& bind);
  DeviceVariant(const DeviceVariant&) = delete;
  DeviceVariant& operator=(const DeviceVariant&) = delete;
  ~DeviceVariant() override;

  std::chrono::nanoseconds time(int runs) override;

 private:
  void enqueue();

  Device& device_;
  Queue queue_;
  DeviceMemory scratch_;
  BoundLaunches launches_;
  std::optional<Upload> upload_;
  std::optional<Download> download_;
  GraphExec executable_;  // null: work is enqueued call by call
  Event start_;
  Event end_;
};

}  // namespace saccade::cuda
