#pragma once

#include <exception>

#include "cuda/handles.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// What Bindings::queue points to: the stream of one execution, and what went wrong in work that it does on the host.
struct Queue {
  Stream stream;
  std::exception_ptr failure;  ///< of the run under way; the first one counts
};

inline Queue& queue_of(const Bindings& bindings) { return *static_cast<Queue*>(bindings.queue); }

}  // namespace saccade::cuda
