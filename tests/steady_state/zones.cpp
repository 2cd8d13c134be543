// Counts tracked objects in zones, copies the results and writes them, and counts allocations after the warm-up:
//   steady_state_zones
#include "saccade/saccade.hpp"
#include "steady_state/count_frames.hpp"
#include "vision/result_storage.hpp"
#include "vision/zones/zone_counter.hpp"

namespace {

using saccade::Zone;
using saccade::ZoneKind;

int measure() {
  const std::vector<Zone> zones = {
      {.kind = ZoneKind::kLine, .name = "line", .points = {{0, 50}, {200, 50}}, .hold = {}},
      {.kind = ZoneKind::kArea,
       .name = "area",
       .points = {{0, 0}, {200, 0}, {200, 50}, {0, 50}},
       .hold = {},
       .lost = {}}};
  const std::vector<const Zone*> all = {zones.data(), zones.data() + 1};
  saccade::ZoneCounter counter(all, std::chrono::milliseconds(400));
  saccade::ResultStorage storage;
  const auto sink = saccade::open_jsonl("/dev/null");
  saccade::Result found;
  found.width = 640;
  found.height = 360;
  found.detections.resize(10);
  saccade::Result result;
  std::int64_t frame = 0;
  std::int64_t events = 0;
  // Ten objects go up and down, under new IDs every eight frames.
  const auto take = [&](int wanted) {
    for (int i = 0; i < wanted; ++i, ++frame) {
      found.timestamp_ns = 40'000'000 * frame;
      for (std::size_t k = 0; k < found.detections.size(); ++k) {
        const float y = frame % 4 < 2 ? 40 : 60;
        found.detections[k] = {.box = {20 * static_cast<float>(k), 0, 20, y},
                               .class_id = static_cast<int>(k % 2),
                               .class_name = k % 2 == 0 ? "person" : "car",
                               .track_id = 1 + static_cast<std::int64_t>(k) + 10 * (frame / 8)};
      }
      counter.update(found);
      storage.copy(found, result);
      storage.add_zones(counter.states(), counter.events(), result);
      sink->write(result, {});
      events += static_cast<std::int64_t>(result.zone_events.size());
    }
    return events > 0;
  };
  return saccade::test::count_frames(take, 200);
}

}  // namespace

int main() {
  try {
    return measure();
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
