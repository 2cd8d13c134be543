#pragma once

#include "cuda/executor/runner.hpp"

namespace saccade::cuda {

/// Runs of several plans on one frame: one graph, captured here, in which the frame's upload is followed by a branch
/// for each plan; one launch and one wait. Each member goes on answering by its own views.
class DeviceRunGroup : public RunGroup {
 public:
  /// MEMBERS outlive it; without GRAPH the branches are enqueued call by call, in streams side by side all the same.
  DeviceRunGroup(Device& device, std::vector<DeviceRunner*> members, bool graph);
  DeviceRunGroup(const DeviceRunGroup&) = delete;
  DeviceRunGroup& operator=(const DeviceRunGroup&) = delete;
  ~DeviceRunGroup() override;

  void submit() override;
  void wait() override;

 private:
  void enqueue();
  bool is_timed() const;

  Device& device_;
  std::vector<DeviceRunner*> members_;
  Upload upload_;
  Event uploaded_;
  std::vector<Event> done_;  // of the members but for the first, in whose stream they join
  GraphExec executable_;     // null: work is enqueued call by call
  bool apart_ = false;       // of the run under way: a profile looks at the members one by one
};

}  // namespace saccade::cuda
