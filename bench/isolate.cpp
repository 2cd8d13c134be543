// A frame of a source in a child process (SourceOptions::isolate) next to the same source in this process. Both are
// read by a pipeline's reader thread, while another one reads each cache line of luma. "stream" is the time per frame,
// "handover_us" the median time from the end of a frame's capture to the other thread. Bound: two datagrams and the
// wake-up of a thread, some 10 us; no byte of a frame is copied. The source is raw 4:2:0 video of 1280x720 pixels,
// which costs little more than a copy: the consumer waits for each frame.
//
//   build/bench/isolate_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=10
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "media/source_list.hpp"
#include "pipeline/stream/stream.hpp"

namespace saccade {
namespace {

constexpr int kWidth = 1280;
constexpr int kHeight = 720;

/// A file of FRAMES grey frames, removed at the end.
class RawVideo {
 public:
  explicit RawVideo(int frames) {
    std::ofstream file(path_, std::ios::binary);
    file << "YUV4MPEG2 W" << kWidth << " H" << kHeight << " F30:1 Ip A1:1 C420\n";
    const std::string pixels(static_cast<std::size_t>(kWidth) * kHeight * 3 / 2, '\x80');
    for (int i = 0; i < frames; ++i) file << "FRAME\n" << pixels;
  }
  ~RawVideo() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  RawVideo(const RawVideo&) = delete;
  RawVideo& operator=(const RawVideo&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "saccade-isolate-bench.y4m";
};

/// Reads each cache line of the luma.
std::int64_t sum_of(const FrameView& view) {
  constexpr std::size_t kLine = 64;
  const std::size_t bytes = static_cast<std::size_t>(view.pitch_bytes[0]) * static_cast<std::size_t>(view.height);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += kLine) sum += view.planes[0][i];
  return sum;
}

void read(benchmark::State& state, const std::string& uri, const SourceOptions& options) {
  const auto reader = open_source(uri, options);
  BoundedQueue<Frame> queue({{DropPolicy::kWait, 1}});
  std::vector<double> handovers;
  Stream stream(*reader, queue, {.buffers = 6});
  const auto next = [&] {
    Frame frame;
    std::size_t lane = 0;
    if (queue.pop(frame, lane, Clock::time_point::max()) != PopStatus::kItem) std::abort();
    handovers.push_back(std::chrono::duration<double, std::micro>(Clock::now() - frame.captured).count());
    benchmark::DoNotOptimize(sum_of(frame.view));
  };
  for (int i = 0; i < 8; ++i) next();
  handovers.clear();
  for (auto step : state) next();
  queue.cancel();
  std::ranges::sort(handovers);
  state.counters["handover_us"] = handovers[handovers.size() / 2];
  state.counters["handover_p99_us"] = handovers[handovers.size() * 99 / 100];
}

void raw_video(benchmark::State& state) {
  static const RawVideo video(64);
  read(state, video.path(), {.loop = true, .isolate = state.range(0) == 1});
}
BENCHMARK(raw_video)->ArgName("isolated")->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade
