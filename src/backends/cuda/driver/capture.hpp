#pragma once

#include <functional>
#include <string>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// Captures WORK on STREAM, and on streams that fork from it and join it again, as a graph for repeated launch. Null if
/// the driver refuses; the reason is logged with NAME, and the work is then enqueued call by call. Throws what WORK
/// throws, except Error (kDevice).
GraphExec capture(CUstream stream, const std::string& name, const std::function<void()>& work);

}  // namespace saccade::cuda
