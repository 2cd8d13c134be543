// The time to convert a frame to a 3x640x640 tensor on one core, compared with writing the tensor. "of_write" is the
// CPU time of memset on the tensor over the kernel's: the bound is 1. (The library prints it as a rate.)
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <random>

#include "ops/core/values.hpp"
#include "runtime/cpu_backend.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

constexpr std::int64_t kSide = 640;

const Tactic& preprocess() {
  for (const Tactic* tactic : cpu_backend().tactics())
    if (tactic->name() == "vector.preprocess") return *tactic;
  fail(ErrorCode::kInternal, "the CPU backend has no vector.preprocess");
}

Graph graph_with_preprocess(Layout layout, DType made, const char* interpolation) {
  Graph graph;
  Node node{.domain = "saccade", .op = "Preprocess", .name = "pixels"};
  node.attributes.set("width", kSide);
  node.attributes.set("height", kSide);
  node.attributes.set("resize", std::string("letterbox"));
  node.attributes.set("interpolation", std::string(interpolation));
  node.attributes.set("to", onnx_of_dtype(made));
  node.inputs = {graph.add_input("frame", {DType::kFrame, {}})};
  node.outputs = {graph.add_value("tensor", {made, {1, 3, kSide, kSide}})};
  graph.value(node.outputs[0]).layout = layout;
  graph.add_node(std::move(node));
  return graph;
}

double seconds_to_write(Tensor& tensor) {
  double best = 1;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::memset(tensor.raw(), i, tensor.bytes());
    benchmark::ClobberMemory();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void run(benchmark::State& state, PixelFormat format, int width, int height, Layout layout,
         DType made = DType::kFloat32, const char* interpolation = "bilinear") {
  cpu_backend().prepare_thread(1);
  const Graph graph = graph_with_preprocess(layout, made, interpolation);
  const auto launch = preprocess().compile({.graph = graph, .node = graph.node(graph.order().front())});
  Tensor pixels(DType::kUInt8, {static_cast<std::int64_t>(frame_bytes(format, width, height))});
  std::mt19937 random(1);
  for (std::uint8_t& sample : pixels.data<std::uint8_t>()) sample = static_cast<std::uint8_t>(random());
  FrameView view = lay_out({.data = pixels.raw(), .capacity = pixels.bytes()}, format, width, height);
  Tensor tensor(made, {1, 3, kSide, kSide});
  const TensorView input{.data = &view, .dtype = DType::kFrame, .shape = {}};
  TensorView output = view_of(tensor);
  output.layout = layout;
  const auto bound = launch->bind({.inputs = {&input, 1}, .outputs = {&output, 1}});
  for (auto _ : state) bound->run();
  state.counters["of_write"] =
      benchmark::Counter(seconds_to_write(tensor), benchmark::Counter::kIsIterationInvariantRate);
}

#define SACCADE_BENCH_FRAMES(format, width, height)                                                                   \
  BENCHMARK_CAPTURE(run, format##_##width##x##height##_planar, PixelFormat::format, width, height, Layout::kRowMajor) \
      ->Unit(benchmark::kMicrosecond);                                                                                \
  BENCHMARK_CAPTURE(run, format##_##width##x##height##_channels_last, PixelFormat::format, width, height,             \
                    Layout::kChannelsLast)                                                                            \
      ->Unit(benchmark::kMicrosecond);                                                                                \
  BENCHMARK_CAPTURE(run, format##_##width##x##height##_channels_last_bf16, PixelFormat::format, width, height,        \
                    Layout::kChannelsLast, DType::kBFloat16)                                                          \
      ->Unit(benchmark::kMicrosecond)

SACCADE_BENCH_FRAMES(kI420, 1280, 720);
SACCADE_BENCH_FRAMES(kI420, 1920, 1080);
SACCADE_BENCH_FRAMES(kI420, 1000, 563);
SACCADE_BENCH_FRAMES(kYuyv, 1280, 720);
SACCADE_BENCH_FRAMES(kBayerRggb8, 1280, 720);
SACCADE_BENCH_FRAMES(kRgb24, 640, 427);
SACCADE_BENCH_FRAMES(kRgb24, 1280, 720);

// By tables (pixel_filter.hpp).
BENCHMARK_CAPTURE(run, kRgb24_1280x720_antialias, PixelFormat::kRgb24, 1280, 720, Layout::kChannelsLast,
                  DType::kFloat32, "bilinear-antialias")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, kI420_1280x720_antialias, PixelFormat::kI420, 1280, 720, Layout::kChannelsLast, DType::kFloat32,
                  "bilinear-antialias")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, kRgb24_1280x720_bicubic_antialias, PixelFormat::kRgb24, 1280, 720, Layout::kChannelsLast,
                  DType::kFloat32, "bicubic-antialias")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade
