// Runs a pipeline on a video and counts allocations between source and result after the warm-up:
//   steady_state MODEL VIDEO [FRAMES] [TILE-SIZE] [TRACKER]
#include <cstdlib>

#include "saccade/saccade.hpp"
#include "steady_state/count_frames.hpp"

namespace {

int measure(const char* model, const char* video, int frames, int tile_size, const char* tracker) {
  saccade::ModelOptions options{.device = saccade::Device::cpu()};
  if (tile_size > 0) options.tiles = saccade::TileOptions{.size = tile_size};
  if (tracker != nullptr) options.post.tracker = saccade::tracker_options(tracker);
  saccade::Pipeline pipeline(saccade::Source::open(video), saccade::Model::load(model, options));
  const auto sink = saccade::open_jsonl("/dev/null");
  const auto take = [&](int wanted) {
    for (int i = 0; i < wanted; ++i) {
      const auto result = pipeline.next();
      if (!result) return false;
      sink->write(*result, pipeline.frame());
    }
    return true;
  };
  return saccade::test::count_frames(take, frames);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::puts("usage: steady_state MODEL VIDEO [FRAMES] [TILE-SIZE] [TRACKER]") < 0 ? 1 : 2;
  try {
    return measure(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 200, argc > 4 ? std::atoi(argv[4]) : 0,
                   argc > 5 ? argv[5] : nullptr);
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
