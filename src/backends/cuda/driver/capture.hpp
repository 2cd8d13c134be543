#pragma once

#include <functional>
#include <string>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// What WORK puts in STREAM, and in streams that fork from it and join it again, as a graph to be launched again and
/// again; null where the driver refuses, which is logged with the reason: NAME's work is then to be enqueued call by
/// call. Throws what WORK throws but for Error (kDevice).
GraphExec capture(CUstream stream, const std::string& name, const std::function<void()>& work);

}  // namespace saccade::cuda
