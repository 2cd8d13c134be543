#pragma once

#include <exception>
#include <vector>

#include "cuda/handles.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// What a bound launch does on the host before every run: a captured graph replays what run() put in the queue alone.
/// What it puts in the queue itself comes before the graph.
class BeforeRun {
 public:
  virtual ~BeforeRun() = default;
  /// Throws Error; the run ends there.
  virtual void before_run() = 0;
};

/// What Bindings::queue points to: the stream of one execution, and what went wrong in work that it does on the host.
struct Queue {
  Stream stream;
  std::exception_ptr failure;          ///< of the run under way; the first one counts
  std::vector<BeforeRun*> before_run;  ///< launches of the execution
};

inline Queue& queue_of(const Bindings& bindings) { return *static_cast<Queue*>(bindings.queue); }

}  // namespace saccade::cuda
