// Runs a pipeline of two models on a GPU, possibly the emulated one, and counts allocations between source and result
// after the warm-up. The reader is late at times after it: the source takes all its buffers.
//   steady_state_cuda [FRAMES [VIDEO]]    VIDEO: it is decoded on the GPU
#include <chrono>
#include <cstdlib>
#include <thread>

#include "saccade/saccade.hpp"
#include "steady_state/count_frames.hpp"
#include "support/scripted_source.hpp"
#include "support/tiny_models.hpp"

namespace {

int measure(int frames, const char* video) {
  const saccade::test::TempFolder folder;
  saccade::ModelOptions options;
  options.device = saccade::Device::cuda();
  const auto count = static_cast<std::size_t>(saccade::test::kWarmUp + frames);
  const saccade::Source source = video != nullptr
                                     ? saccade::Source::open(video, {.decode = saccade::Decoding::kCuda})
                                     : saccade::test::scripted_source("frames", saccade::test::frames(count));
  saccade::Pipeline pipeline({source}, {saccade::Model::load(saccade::test::write_color_classifier(folder), options),
                                        saccade::Model::load(saccade::test::write_box_detector(folder), options)});
  bool is_late = false;
  const auto take = [&](int wanted) {
    for (int i = 0; i < wanted; ++i) {
      if (is_late && i % 25 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (!pipeline.next() || !pipeline.next()) return false;
    }
    is_late = true;
    return true;
  };
  return saccade::test::count_frames(take, frames);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? argv[2] : nullptr);
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
