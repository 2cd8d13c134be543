#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "pipeline/compile.hpp"
#include "support/graph_builder.hpp"

namespace saccade {
namespace {

/// Few on an emulated GPU; script/test-gpu asks for many.
constexpr const char* kReplays = "SACCADE_SOAK_REPLAYS";
bool is_asked() { return std::getenv(kReplays) != nullptr; }
int replays() { return is_asked() ? std::atoi(std::getenv(kReplays)) : 20; }

/// Memory of the current context's GPU that is left, as its driver says.
std::size_t free_device_bytes() {
  using Ask = int (*)(std::size_t*, std::size_t*);
  static const auto ask = reinterpret_cast<Ask>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemGetInfo_v2"));
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(ask(&free, &total), 0);
  return free;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A network of what has kernels of its own: convolutions, a pool, a product, a softmax.
Graph network() {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 16, 16});
  const ValueId first = b.op("Relu", {b.op("Conv", {x, b.random({16, 8, 3, 3})})});
  const ValueId pool = b.op("MaxPool", {first}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  const ValueId second = b.op("Conv", {pool, b.random({32, 16, 1, 1})});
  const ValueId product = b.op("Gemm", {b.op("Flatten", {b.op("GlobalAveragePool", {second})}), b.random({32, 10})});
  return b.build({b.op("Softmax", {product})});
}

TEST(CudaSoak, ReplaysAlikeInConstantMemory) {
  Execution execution(compile(network(), {.device = "cuda", .precision = "fp16"}));
  const Tensor input = test::random_tensor({1, 8, 16, 16}, 7);
  std::memcpy(execution.input(0).data, input.raw(), input.bytes());
  for (int i = 0; i < 10; ++i) execution.run();
  const std::vector<Tensor> wanted = read_answers(execution);
  const std::size_t device = free_device_bytes();
  const std::size_t host = resident_bytes();
  for (int i = 0; i < replays(); ++i) {
    execution.run();
    const TensorView got = execution.output(0);
    ASSERT_EQ(std::memcmp(got.data, wanted[0].raw(), wanted[0].bytes()), 0) << "replay " << i;
  }
  EXPECT_EQ(free_device_bytes(), device);
  // Of few replays it shows nothing: an emulated GPU and sanitizers keep memory of their own.
  if (is_asked()) {
    EXPECT_LT(resident_bytes(), host + (std::size_t{1} << 20));
  }
}

}  // namespace
}  // namespace saccade
