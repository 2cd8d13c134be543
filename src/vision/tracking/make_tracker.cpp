#include "vision/tracking/trackers.hpp"

namespace saccade {

std::unique_ptr<ObjectTracker> make_tracker(const TrackerSettings& settings, double frame_rate) {
  return settings.kind == TrackerKind::kOcSort ? make_ocsort(settings, frame_rate) : make_sort(settings, frame_rate);
}

}  // namespace saccade
