// A program that is linked to libgomp itself: oneDNN then runs on that library's threads. A NaN that one of them meets
// is kept as elsewhere, and the number of threads is the plan's.
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "passes/core/manager.hpp"
#include "runtime/cpu_backend.hpp"
#include "runtime/plan.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

const Shape kInput{1, 32, 64, 64};

Graph convolution_and_relu() {
  test::GraphBuilder b;
  const ValueId x = b.input("x", kInput);
  const ValueId y = b.op("Relu", {b.op("Conv", {x, b.random({32, 32, 1, 1})})});
  return b.build({y});
}

/// Whether a NaN in the element AT of the input arrives in its pixel of every output channel.
bool keeps_nan(Execution& execution, std::int64_t at) {
  const Tensor input = test::random_tensor(kInput, 3);
  auto* const elements = static_cast<float*>(execution.input(0).data);
  std::ranges::copy(input.data<float>(), elements);
  elements[at] = std::numeric_limits<float>::quiet_NaN();
  execution.run();
  const auto* const outputs = static_cast<const float*>(execution.output(0).data);
  const std::int64_t plane = kInput[2] * kInput[3];
  for (std::int64_t channel = 0; channel < kInput[1]; ++channel)
    if (!std::isnan(outputs[channel * plane + at % plane])) return false;
  return true;
}

int check() {
  if (dlsym(RTLD_DEFAULT, "GOMP_parallel") == nullptr || omp_get_max_threads() < 1) {
    std::puts("this program has no libgomp of its own");
    return 1;
  }
  for (const int threads : {1, 2, 3}) {
    Graph graph = convolution_and_relu();
    run_passes(graph, {.target = cpu_backend().target()});
    omp_set_num_threads(5);
    Execution execution(Plan::compile(std::move(graph), cpu_backend(), {.threads = threads}));
    if (omp_get_max_threads() != 5) {
      std::printf("the program has %d threads instead of 5 after compiling\n", omp_get_max_threads());
      return 1;
    }
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{2048}, std::int64_t{4095}})
      if (!keeps_nan(execution, at)) {
        std::printf("%d threads lose the NaN in element %d\n", threads, static_cast<int>(at));
        return 1;
      }
    if (omp_get_max_threads() != threads) {
      std::printf("oneDNN has %d threads instead of %d\n", omp_get_max_threads(), threads);
      return 1;
    }
  }
  std::puts("NaN is kept on 1, 2 and 3 threads of the program's OpenMP");
  return 0;
}

}  // namespace
}  // namespace saccade

int main() { return saccade::check(); }
