#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>

#include "driver/state.hpp"
#include "self_test/emulated_device.hpp"

// Kernels run as on a device, and invalid ones are diagnosed.
namespace saccade::emulator {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr const char* kDouble = R"(
#include "launch.cuh"
extern "C" __global__ void __launch_bounds__(64) k(float* __restrict__ x) {
  pdl_wait_and_trigger();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2 * x[i];
})";

TEST(EmulatedKernel, RunsEveryThreadOfEveryBlock) {
  EmulatedDevice device;
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0F);
  const CUdeviceptr x = device.upload(values);
  ASSERT_EQ(device.run(device.kernel(kDouble), 4, 64, {x}), CUDA_SUCCESS);
  for (float& value : values) value *= 2;
  EXPECT_EQ(device.download<float>(x, 256), values);
  EXPECT_STREQ(device.kernels(), "k\n");
}

TEST(EmulatedKernel, IsNotRunWhereOnlySourcesAreWanted) {
  EmulatedDevice device;
  setenv("SACCADE_EMULATOR_RUN", "no", 1);
  const CUfunction kernel = device.kernel(std::string(kDouble) + "\nit would not compile");
  unsetenv("SACCADE_EMULATOR_RUN");
  const CUdeviceptr x = device.upload(std::vector<float>{1, 2});
  EXPECT_EQ(device.run(kernel, 1, 64, {x}), CUDA_SUCCESS);
  EXPECT_THAT(device.download<float>(x, 2), ::testing::ElementsAre(1, 2));
  EXPECT_STREQ(device.kernels(), "k\n");
  const float host = 0;
  EXPECT_EQ(device.run(kernel, 1, 64, {reinterpret_cast<CUdeviceptr>(&host)}), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Warp shuffles, then shared memory and barriers; partial sums of blocks are combined by an atomic.
TEST(EmulatedKernel, ReducesOverABlock) {
  EmulatedDevice device;
  std::vector<float> values(512);
  std::iota(values.begin(), values.end(), 1.0F);
  const CUdeviceptr x = device.upload(values);
  const CUdeviceptr sums = device.upload(std::vector<float>(3, 0.0F));
  const CUfunction kernel = device.kernel(R"(
template <typename T>
__device__ T sum_of_warp(T value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, lanes);
  return value;
}
__device__ float sum_of_block(float value) {
  __shared__ float of_warp[8];
  extern __shared__ __align__(16) float together[];
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = sum_of_warp(threadIdx.x < 8 ? of_warp[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) together[0] = value;
  }
  __syncthreads();
  return together[0];
}
extern "C" __global__ void __launch_bounds__(256, 2) k(const float* x, float* sums) {
  const float sum = sum_of_block(x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x == 255) { sums[blockIdx.x] = sum; atomicAdd(sums + 2, sum); }
})");
  ASSERT_EQ(device.run(kernel, 2, 256, {x, sums}, 16), CUDA_SUCCESS);
  EXPECT_EQ(device.download<float>(sums, 3), (std::vector<float>{32896, 98432, 131328}));
}

TEST(EmulatedKernel, VotesInTheWarp) {
  EmulatedDevice device;
  const CUdeviceptr x = device.allocate(7 * 48 * sizeof(int));
  // The second warp has 16 lanes; lanes from 40 on exit.
  const CUfunction kernel = device.kernel(R"(
extern "C" __global__ void k(int* x) {
  const int i = threadIdx.x;
  if (i >= 40) return;
  x[i] = __ballot_sync(~0u, i % 2);
  x[48 + i] = __shfl_down_sync(~0u, i, 1);
  x[96 + i] = __shfl_up_sync(~0u, i, 2, 8);
  x[144 + i] = __shfl_sync(~0u, i, 3, 8);
  x[192 + i] = __all_sync(~0u, i < 40) + 2 * __any_sync(~0u, i == 33);
  x[240 + i] = __reduce_add_sync(~0u, i);
  x[288 + i] = __syncthreads_count(i < 5) + 100 * __syncthreads_and(i < 40) + 1000 * __syncthreads_or(i < 0);
})");
  ASSERT_EQ(device.run(kernel, 1, 48, {x}), CUDA_SUCCESS);
  const auto got = device.download<int>(x, 7 * 48);
  const auto at = [&](int row, int i) { return got[static_cast<std::size_t>(48 * row + i)]; };
  EXPECT_EQ(static_cast<unsigned>(at(0, 3)), 0xAAAAAAAAU);
  EXPECT_EQ(at(0, 33), 0xAA);
  EXPECT_EQ(at(1, 4), 5);
  EXPECT_EQ(at(1, 31), 31);
  EXPECT_EQ(at(1, 39), -1);  // of an exited lane
  EXPECT_EQ(at(2, 10), 8);
  EXPECT_EQ(at(2, 9), 9);
  EXPECT_EQ(at(3, 21), 19);
  EXPECT_EQ(at(4, 0), 1);
  EXPECT_EQ(at(4, 39), 3);
  EXPECT_EQ(at(5, 7), 496);
  EXPECT_EQ(at(5, 32), 284);
  EXPECT_EQ(at(6, 20), 105);
  EXPECT_EQ(at(6, 47), -1);
}

TEST(EmulatedKernel, FindsMemoryPoisoned) {
  EmulatedDevice device;
  const CUdeviceptr x = device.allocate(4 * 64);
  const CUfunction kernel = device.kernel(R"(
extern "C" __global__ void k(float* x, float* fresh) {
  __shared__ float left[32];
  extern __shared__ float more[];
  x[threadIdx.x] = left[threadIdx.x] + more[threadIdx.x] + fresh[0];
  left[threadIdx.x] = more[threadIdx.x] = 1;
})");
  ASSERT_EQ(device.run(kernel, 2, 32, {x, device.allocate(4)}, 128), CUDA_SUCCESS);
  EXPECT_THAT(device.download<unsigned>(x, 32), Each(0xFFFFFFFFU));
}

TEST(EmulatedKernel, IsCompiledOrTheLogSaysWhyNot) {
  EmulatedDevice device;
  EXPECT_THAT(device.compile("extern \"C\" __global__ void k(float* x) {\n  x[0] = y;\n}"),
              HasSubstr("test.cu:2:10: error: "));
  EXPECT_EQ(device.compile(kDouble, "sm_80"), "");
  CUmodule module = nullptr;
  EXPECT_EQ(device.driver.cuModuleLoadData(&module, device.cubin.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  device.cubin.assign(64, 'x');
  EXPECT_EQ(device.driver.cuModuleLoadData(&module, device.cubin.data()), kInvalidImage);
}

using EmulatedKernelDeathTest = ::testing::Test;

/// Runs SOURCE in one block of 32 threads on 8 numbers.
void run_once(const char* source) {
  EmulatedDevice device;
  const CUdeviceptr x = device.upload(std::vector<float>(8));
  device.run(device.kernel(source), 1, 32, {x}, 64);
}

TEST(EmulatedKernelDeathTest, EndsWhereADeviceWouldHang) {
  EXPECT_DEATH(
      run_once(R"(extern "C" __global__ void k(float*) {
  if (threadIdx.x < 16) __syncthreads();
  else __syncwarp();
})"),
      "kernel k.*hangs.* 16 threads in __syncthreads \\(test.cu:2\\); 16 threads in __syncwarp \\(test.cu:3\\)");
  EXPECT_DEATH(run_once(R"(extern "C" __global__ void k(float*) {
  if (threadIdx.x < 16) __syncthreads();
  else
    __syncthreads();
})"),
               "others of its group wait in __syncthreads \\(test.cu:2\\)");
}

TEST(EmulatedKernelDeathTest, EndsAtALoadOfWhatIsNotAllocated) {
#ifndef SACCADE_SANITIZED_ADDRESS
  GTEST_SKIP() << "loads are checked by AddressSanitizer's shadow memory";
#endif
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { x[0] = x[8 + threadIdx.x]; }"),
               "k, .*a load: 4 bytes, not all in allocated memory: 32 bytes behind float\\* x");
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { x[0] = ((double*)x)[4]; }"), "a load: 8 bytes");
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { x[0] = ((char*)x)[31] + ((char*)x)[32]; }"),
               "a load: 1 bytes, not all in allocated memory: 32 bytes");
}

TEST(EmulatedKernelDeathTest, EndsAtWhatADeviceForbids) {
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) {\n  if (threadIdx.x == 9) x[threadIdx.x] = 1;\n}"),
               "k: something is written behind the 32 bytes|k, .*a store: 4 bytes, not all in allocated memory: "
               "36 bytes behind float\\* x");
  EXPECT_DEATH(
      run_once("extern \"C\" __global__ void k(float* x) { extern __shared__ float y[]; y[threadIdx.x] = 1; }"),
      "written behind its end|a store: 4 bytes, not all in allocated memory");
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { ((float4*)(x + 1))->y = 1; }"), "misaligned");
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { *(float4*)(x + 1) = float4{}; }"), "misaligned");
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { int y[2]; x[0] = y[threadIdx.x]; }"),
               "outside of its array");
  EXPECT_DEATH(run_once("extern \"C\" __global__ void k(float* x) { x[0] = 1 << threadIdx.x * 2; }"), "a shift by");
}

}  // namespace
}  // namespace saccade::emulator
