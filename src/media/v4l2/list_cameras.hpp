#pragma once

#include <memory>
#include <vector>

#include "media/v4l2/modes.hpp"
#include "media/v4l2/system_calls.hpp"
#include "saccade/cameras.hpp"

namespace saccade::v4l2 {

/// The same with the system calls that it uses, and the size of a model.
std::vector<CameraInfo> list_cameras(const std::shared_ptr<SystemCalls>& calls, const ModelSize& model);

}  // namespace saccade::v4l2
