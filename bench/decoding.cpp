// Frames per second of NVDEC alone: streams that each decode the clip $SACCADE_CLIP, an .h264 or .h265 file, again and
// again, with a thread and a decoder each, as `run --decode cuda` does. bench/decoding.py compares it with
// PyNvVideoCodec.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/module.hpp"
#include "media/looping_reader.hpp"
#include "media/modules.hpp"
#include "pipeline/model/frame_pool.hpp"

namespace saccade {
namespace {

/// Memory of which the first GPU is said to read: then frames are decoded there.
class ReadByGpu final : public FrameMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kPlain; }
  std::byte* allocate(std::size_t bytes) override { return plain_frame_memory().allocate(bytes); }
  void deallocate(std::byte* memory) noexcept override { plain_frame_memory().deallocate(memory); }
  int device() const override { return 0; }
};

void read(const std::string& path, std::int64_t frames, std::atomic<std::int64_t>& decoded) {
  ReadByGpu memory;
  FramePool pool(8, memory);
  const auto reader =
      open_looping([&] { return module<NvdecModule>("nvdec").open_elementary(path, {.decode = Decoding::kCuda}); });
  for (std::int64_t i = 0; i < frames; ++i) {
    const Outcome<Frame> frame = reader->read(pool);
    if (!frame || frame->view.memory != MemoryKind::kDevice) return;
    ++decoded;
  }
}

void decode(benchmark::State& state) {
  constexpr std::int64_t kFrames = 3000;
  const char* path = std::getenv("SACCADE_CLIP");
  if (path == nullptr) return state.SkipWithError("set SACCADE_CLIP to an .h264 or .h265 file");
  std::atomic<std::int64_t> decoded = 0;
  for ([[maybe_unused]] auto round : state) {
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < state.range(0); ++i) threads.emplace_back([&] { read(path, kFrames, decoded); });
  }
  if (decoded != state.range(0) * kFrames * static_cast<std::int64_t>(state.iterations()))
    return state.SkipWithError("not every frame was decoded on the GPU");
  state.counters["frames"] = benchmark::Counter(static_cast<double>(decoded), benchmark::Counter::kIsRate);
}

BENCHMARK(decode)->Arg(1)->Arg(8)->Arg(32)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace saccade
