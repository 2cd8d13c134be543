#include <gmock/gmock.h>

#include <numeric>

#include "driver/state.hpp"
#include "self_test/emulated_device.hpp"

// Clusters, mbarriers and asynchronous copies.
namespace saccade::emulator {
namespace {

// Every block of a cluster loads its part by cp.async.bulk, sums it per thread, and sends the sums to the other block's
// shared memory. Two phases of one mbarrier; static and dynamic shared memory.
constexpr const char* kExchange = R"(
#include "ptx.cuh"
extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(32) k(const float* x, float* y) {
  __shared__ uint64 barrier;
  __shared__ __align__(16) float4 received[32];
  extern __shared__ __align__(16) float part[];
  const int rank = blockIdx.x % 2;
  if (threadIdx.x == 0) {
    mbarrier_init(&barrier);
    fence_mbarrier_init();
  }
  __syncthreads();
  cluster_arrive();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&barrier, 512);
    cp_async_bulk(part, x + 128 * blockIdx.x, 256, &barrier);
    cp_async_bulk(part + 64, x + 128 * blockIdx.x + 64, 256, &barrier);
  }
  mbarrier_wait(&barrier, 0);
  if (threadIdx.x == 0) mbarrier_arrive_expect_tx(&barrier, 512);
  __syncthreads();
  const float4 mine = *reinterpret_cast<const float4*>(part + 4 * threadIdx.x);
  cluster_wait();
  st_async_dsmem(1 - rank, received + threadIdx.x, mine, &barrier);
  mbarrier_wait(&barrier, 1);
  const float4 other = received[threadIdx.x];
  y[32 * blockIdx.x + threadIdx.x] = mine.x + mine.y + mine.z + mine.w - (other.x + other.y + other.z + other.w);
})";

TEST(EmulatedCluster, ExchangesByBarriers) {
  EmulatedDevice device;
  std::vector<float> x(4 * 128);
  std::iota(x.begin(), x.end(), 0.0F);
  const CUdeviceptr y = device.allocate(4 * 32 * sizeof(float));
  ASSERT_EQ(device.run(device.kernel(kExchange), 4, 32, {device.upload(x), y}, 512), CUDA_SUCCESS);
  std::vector<float> expected(128);
  for (std::size_t i = 0; i < 128; ++i) expected[i] = i / 32 % 2 == 0 ? -512.0F : 512.0F;
  EXPECT_EQ(device.download<float>(y, 128), expected);
}

TEST(EmulatedCluster, CountsArrivalsWithAndWithoutCopies) {
  EmulatedDevice device;
  std::vector<float> x(4 * 32);
  std::iota(x.begin(), x.end(), 0.0F);
  const CUdeviceptr y = device.allocate(33 * sizeof(float));
  const CUfunction kernel = device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ uint64 barrier;
  __shared__ __align__(16) float part[128];
  if (threadIdx.x == 0) mbarrier_init(&barrier, 33);
  __syncthreads();
  if (threadIdx.x < 32) {
    cp_async_16(part + 4 * threadIdx.x, x + 4 * threadIdx.x, true);
    cp_async_mbarrier_arrive(&barrier);
  } else {
    mbarrier_arrive(&barrier);
    mbarrier_wait(&barrier, 0);
    for (int i = 0; i < 32; ++i) y[i] = part[4 * i + 3];
  }
})");
  ASSERT_EQ(device.run(kernel, 1, 33, {device.upload(x), y}), CUDA_SUCCESS);
  std::vector<float> expected(32);
  for (std::size_t i = 0; i < 32; ++i) expected[i] = x[4 * i + 3];
  EXPECT_EQ(device.download<float>(y, 32), expected);
}

TEST(EmulatedCluster, DividesTheGrid) {
  EmulatedDevice device;
  const CUdeviceptr x = device.allocate(4);
  EXPECT_EQ(device.launch(device.kernel(kExchange), 3, 32, {x, x}, 512), CUDA_ERROR_INVALID_VALUE);
  const CUfunction large = device.kernel("extern \"C\" __global__ void __cluster_dims__(1, 9) k(float*) {}");
  EXPECT_EQ(device.launch(large, 9, 32, {x}), kInvalidClusterSize);
}

/// Runs BODY in a cluster of two blocks of one thread.
void run_body(const std::string& body) {
  EmulatedDevice device;
  const CUdeviceptr x = device.upload(std::vector<float>(8));
  device.run(device.kernel(R"(
#include "ptx.cuh"
extern "C" __global__ void __cluster_dims__(2) k(float* x) {
  __shared__ uint64 barrier;
  __shared__ __align__(16) float tile[8];
)" + body + "}"),
             2, 1, {x});
}

TEST(EmulatedClusterDeathTest, EndsWhereADeviceWouldHangOrFail) {
  EXPECT_DEATH(run_body("mbarrier_arrive_expect_tx(&barrier, 16);"),
               "mbarrier_arrive_expect_tx: its barrier is not prepared");
  EXPECT_DEATH(
      run_body("mbarrier_init(&barrier); mbarrier_arrive_expect_tx(&barrier, 32); cp_async_bulk(tile, x, 16, &barrier);"
               "mbarrier_wait(&barrier, 0);"),
      "hangs, not all come: 2 threads in mbarrier_wait of 2");
  EXPECT_DEATH(
      run_body(
          "mbarrier_init(&barrier); mbarrier_arrive_expect_tx(&barrier, 16); cp_async_bulk(tile, x, 16, &barrier);"),
      "cp_async_bulk: the block whose memory is written has left");
  EXPECT_DEATH(run_body("mbarrier_init(&barrier); st_async_dsmem(1 - blockIdx.x, tile, float4{}, &barrier);"),
               "st_async_dsmem: its barrier is not prepared");
  EXPECT_DEATH(run_body("cluster_wait();"), "without cluster_arrive");
  EXPECT_DEATH(
      run_body(
          "mbarrier_init(&barrier); mbarrier_arrive(&barrier); mbarrier_arrive(&barrier); mbarrier_init(&barrier, 2);"
          "mbarrier_arrive(&barrier); mbarrier_wait(&barrier, 0);"),
      "hangs, not all come: 2 threads in mbarrier_wait of 2");
  EXPECT_DEATH(run_body("cp_async_bulk(tile, x + 1, 16, &barrier);"), "cp_async_bulk: an address or length");
}

}  // namespace
}  // namespace saccade::emulator
