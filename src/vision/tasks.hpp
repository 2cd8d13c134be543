#pragma once

#include "saccade/results.hpp"

namespace saccade {

/// Whether a model for TASK predicts detections.
constexpr bool finds_objects(Task task) {
  return task == Task::kDetect || task == Task::kSegment || task == Task::kPose || task == Task::kOriented ||
         task == Task::kTrack;
}

}  // namespace saccade
