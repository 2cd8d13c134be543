#include <gmock/gmock.h>

#include "driver/state.hpp"
#include "self_test/emulated_device.hpp"

// Before griddepcontrol.wait, a kernel launched with programmatic stream serialization may only read constants.
namespace saccade::emulator {
namespace {

/// The kernel k: BEFORE, then the wait, then AFTER. X is written by the kernel before it.
std::string source_of(const std::string& before, const std::string& after) {
  return R"(
#include "ptx.cuh"
#include "launch.cuh"
struct Four { float x[4]; };
extern "C" __global__ void k(const float* weights, const float* x,
                             float* __restrict__ y, float* other) {
  __shared__ float held[32];
  const int i = threadIdx.x;
)" + before +
         "\n  pdl_wait_and_trigger();\n" + after + "\n}\n";
}

/// Result of the kernel that source_of() returns, behind one that writes X, all elements 2; weights are 3.
std::vector<float> run(const std::string& before, const std::string& after, bool overlaps = true) {
  EmulatedDevice device;
  const CUdeviceptr weights = device.upload(std::vector<float>(32, 3.0F));
  const CUdeviceptr x = device.upload(std::vector<float>(32));
  const CUdeviceptr y = device.allocate(32 * sizeof(float));
  const CUfunction first = device.kernel(R"(
#include "launch.cuh"
extern "C" __global__ void k(float* x) { pdl_wait_and_trigger(); x[threadIdx.x] = 2; })");
  const CUfunction second = device.kernel(source_of(before, after));
  EXPECT_EQ(device.launch(first, 1, 32, {x}), CUDA_SUCCESS);
  EXPECT_EQ(device.launch(second, 1, 32, {weights, x, y, device.allocate(4)}, 0, overlaps), CUDA_SUCCESS);
  return device.download<float>(y, 32);
}

TEST(EmulatedProgrammaticLaunch, ReadsConstantsBeforeTheWait) {
  EXPECT_THAT(run("held[i] = weights[i]; __syncthreads(); const float w = held[31 - i];", "y[i] = w * x[i];"),
              ::testing::Each(6.0F));
}

TEST(EmulatedProgrammaticLaunch, MayTouchAnythingWhereItDoesNotOverlap) {
  EXPECT_THAT(run("const float two = x[i];", "y[i] = two;", false), ::testing::Each(2.0F));
}

using EmulatedProgrammaticLaunchDeathTest = ::testing::Test;

TEST(EmulatedProgrammaticLaunchDeathTest, EndsAtALoadOfWhatIsNoConstant) {
  EXPECT_DEATH(run("const float two = x[i + 1];", "y[i] = two;"),
               "kernel k, .*thread \\(0, 0, 0\\): a load: 4 bytes are read before griddepcontrol.wait, .*: "
               "4 bytes behind const float\\* x");
  EXPECT_DEATH(run("const Four four = *reinterpret_cast<const Four*>(x + 4);", "y[i] = four.x[i % 4];"),
               "16 bytes are read .*: 16 bytes behind const float\\* x");
}

// The wait of one thread is not that of another.
TEST(EmulatedProgrammaticLaunchDeathTest, EndsAtALoadOfAThreadThatDoesNotWait) {
  EXPECT_DEATH(run("if (i == 7) { y[i] = x[i]; return; }", "y[i] = x[i];"), "thread \\(7, 0, 0\\): a load");
}

TEST(EmulatedProgrammaticLaunchDeathTest, EndsAtAStore) {
  EXPECT_DEATH(run("y[i] = 1;", ""), "a store: 4 bytes are written .*: 0 bytes behind float\\* __restrict__ y");
  EXPECT_DEATH(run("atomicAdd(other, 1.0f);", ""), "behind float\\* other");
}

TEST(EmulatedProgrammaticLaunchDeathTest, EndsAtAnAsynchronousCopy) {
  const std::string copy = "cp_async_4(held + i, ";
  EXPECT_DEATH(run(copy + "x + i, true);", "cp_async_wait<0>();"), "cp_async_4 .*4 bytes are read before");
  EXPECT_THAT(run(copy + "weights + i, true); cp_async_commit();", "cp_async_wait<0>(); y[i] = held[i];"),
              ::testing::Each(3.0F));
  EXPECT_THAT(run(copy + "x, false); cp_async_commit();", "cp_async_wait<0>(); y[i] = held[i];"),
              ::testing::Each(0.0F));
}

}  // namespace
}  // namespace saccade::emulator
