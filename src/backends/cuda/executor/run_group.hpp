#pragma once

#include "cuda/executor/graph_executor.hpp"

namespace saccade::cuda {

/// Executes several plans on the same frames as one graph: one upload, then a parallel branch per plan, with one launch
/// and one wait. Results are read through each member.
class GraphExecutorGroup : public RunGroup {
 public:
  /// MEMBERS outlive it. Without GRAPH the branches are enqueued call by call in parallel streams.
  GraphExecutorGroup(Device& device, std::vector<GraphExecutor*> members, bool graph);
  GraphExecutorGroup(const GraphExecutorGroup&) = delete;
  GraphExecutorGroup& operator=(const GraphExecutorGroup&) = delete;
  ~GraphExecutorGroup() override;

  void submit() override;
  void wait() override;
  std::size_t failed() const override { return failed_; }

 private:
  void enqueue();
  bool is_timed() const;
  std::size_t member_with(const FrameReader* reader) const;

  Device& device_;
  std::vector<GraphExecutor*> members_;
  Upload upload_;
  Event uploaded_;
  std::vector<Event> done_;  // of all members but the first, whose stream they join
  GraphExec executable_;     // null: work is enqueued call by call
  Clock::duration submission_{};
  bool apart_ = false;  // the current run is profiled, member by member
  std::size_t failed_ = 0;
};

}  // namespace saccade::cuda
