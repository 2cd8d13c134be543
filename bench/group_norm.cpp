// The time of a GroupNormalization followed by a Relu on one core, compared with reading its input twice and writing
// its output. "of_copy_and_sum" is the CPU time of memcpy plus a sum of the tensor over the kernel's: the bound is
// about 1. (The library prints it as a rate.)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "runtime/cpu_backend.hpp"

namespace saccade {
namespace {

const Tactic& group_norm() {
  for (const Tactic* tactic : cpu_backend().tactics())
    if (tactic->name() == "vector.group_norm") return *tactic;
  fail(ErrorCode::kInternal, "the CPU backend has no vector.group_norm");
}

Graph graph_with_norm(const Shape& shape, std::int64_t groups, Layout layout) {
  Graph graph;
  Node node{.op = "GroupNormalization", .name = "norm"};
  node.post_ops.push_back({.op = "Relu"});
  node.attributes.set("num_groups", groups);
  const TensorType type{DType::kFloat32, shape};
  const TensorType parameter{DType::kFloat32, {shape[1]}};
  node.inputs = {graph.add_input("x", type), graph.add_input("scale", parameter), graph.add_input("bias", parameter)};
  node.outputs = {graph.add_value("y", type)};
  graph.value(node.inputs[0]).layout = graph.value(node.outputs[0]).layout = layout;
  graph.add_node(std::move(node));
  return graph;
}

/// Of a copy plus a sum, which only reads.
double seconds_at_best(const Tensor& from, Tensor& to) {
  double best = 1;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.raw(), from.raw(), from.bytes());
    const auto words = std::span(reinterpret_cast<const std::uint64_t*>(from.raw()), from.bytes() / 8);
    std::uint64_t sum = std::accumulate(words.begin(), words.end(), std::uint64_t{0});
    benchmark::DoNotOptimize(sum);
    benchmark::ClobberMemory();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void run(benchmark::State& state, Layout layout) {
  cpu_backend().prepare_thread(1);
  const Shape shape{1, state.range(0), state.range(1), state.range(1)};
  const Graph graph = graph_with_norm(shape, state.range(2), layout);
  const auto launch = group_norm().compile({.graph = graph, .node = graph.node(graph.order().front())});
  Tensor input(DType::kFloat32, shape);
  std::ranges::generate(input.data<float>(), [next = 0]() mutable { return static_cast<float>(next++ % 255); });
  Tensor output(DType::kFloat32, shape);
  Tensor parameters(DType::kFloat32, {shape[1]});
  std::ranges::fill(parameters.data<float>(), 1.0F);
  std::vector<TensorView> inputs{view_of(input), view_of(parameters), view_of(parameters)};
  TensorView result = view_of(output);
  inputs[0].layout = result.layout = layout;
  Tensor scratch(DType::kUInt8, {static_cast<std::int64_t>(launch->scratch_bytes())});
  const auto bound = launch->bind({.inputs = inputs, .outputs = {&result, 1}, .scratch = scratch.raw()});
  for (auto _ : state) bound->run();
  state.counters["of_copy_and_sum"] =
      benchmark::Counter(seconds_at_best(input, output), benchmark::Counter::kIsIterationInvariantRate);
}

// Of a ResNet with group normalization, and an instance normalization of a style network: channels, side, groups.
#define SACCADE_BENCH_NORMS(name, layout) \
  BENCHMARK_CAPTURE(run, name, layout)    \
      ->Args({64, 56, 32})                \
      ->Args({256, 56, 32})               \
      ->Args({1024, 14, 32})              \
      ->Args({2048, 7, 32})               \
      ->Args({32, 256, 32})               \
      ->Unit(benchmark::kMicrosecond)

SACCADE_BENCH_NORMS(planar, Layout::kRowMajor);
SACCADE_BENCH_NORMS(channels_last, Layout::kChannelsLast);

}  // namespace
}  // namespace saccade
