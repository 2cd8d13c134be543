// Follows an object of the synthetic scene and counts allocations between source and result after the warm-up:
//   steady_state_tracker
#include "saccade/saccade.hpp"
#include "steady_state/count_frames.hpp"
#include "support/temp_folder.hpp"
#include "support/tracker_models.hpp"

namespace {

int measure() {
  const saccade::test::TempFolder folder;
  const std::string model = saccade::test::write_color_tracker(folder);
  // Its search image crosses the frame's border at first.
  saccade::Pipeline pipeline(
      saccade::Source::open("synthetic:?seed=4&fps=5"),
      saccade::Model::load(model, {.device = saccade::Device::cpu(), .target = saccade::Region{10, 200, 60, 60}}));
  const auto sink = saccade::open_jsonl("/dev/null");
  const auto take = [&](int wanted) {
    for (int i = 0; i < wanted; ++i) {
      const auto result = pipeline.next();
      if (!result) return false;
      sink->write(*result, pipeline.frame());
    }
    return true;
  };
  return saccade::test::count_frames(take, 60);
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
