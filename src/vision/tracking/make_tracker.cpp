#include "vision/tracking/trackers.hpp"

namespace saccade {

std::unique_ptr<ObjectTracker> make_tracker(const TrackerOptions& options, double frame_rate) {
  return options.kind == TrackerKind::kOcSort ? make_ocsort(options, frame_rate) : make_sort(options, frame_rate);
}

}  // namespace saccade
