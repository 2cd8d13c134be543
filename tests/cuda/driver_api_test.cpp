#include "cuda/driver_api.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

// Some of these are macros in NVIDIA's header.
constexpr unsigned kOurs[] = {saccade::cuda::CU_MEMHOSTALLOC_PORTABLE, saccade::cuda::CU_MEMHOSTALLOC_DEVICEMAP};

}  // namespace

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace {

#define SACCADE_SAME(name) EXPECT_EQ(static_cast<int>(saccade::cuda::name), static_cast<int>(::name)) << #name

TEST(CudaDriverApi, HasTheValuesOfNvidiasHeader) {
  SACCADE_SAME(CUDA_SUCCESS);
  SACCADE_SAME(CUDA_ERROR_OUT_OF_MEMORY);
  SACCADE_SAME(CUDA_ERROR_NO_DEVICE);
  SACCADE_SAME(CUDA_ERROR_INVALID_DEVICE);
  SACCADE_SAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
  SACCADE_SAME(CUDA_ERROR_ECC_UNCORRECTABLE);
  SACCADE_SAME(CUDA_ERROR_INVALID_PTX);
  SACCADE_SAME(CUDA_ERROR_NOT_READY);
  SACCADE_SAME(CUDA_ERROR_ILLEGAL_ADDRESS);
  SACCADE_SAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  SACCADE_SAME(CUDA_ERROR_LAUNCH_TIMEOUT);
  SACCADE_SAME(CUDA_ERROR_LAUNCH_FAILED);
  SACCADE_SAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  SACCADE_SAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  SACCADE_SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  SACCADE_SAME(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  SACCADE_SAME(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  SACCADE_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  SACCADE_SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  SACCADE_SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SACCADE_SAME(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  SACCADE_SAME(CU_FUNC_ATTRIBUTE_NUM_REGS);
  SACCADE_SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  SACCADE_SAME(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  SACCADE_SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  SACCADE_SAME(CU_STREAM_NON_BLOCKING);
  SACCADE_SAME(CU_EVENT_DEFAULT);
  SACCADE_SAME(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  SACCADE_SAME(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  EXPECT_EQ(kOurs[0], static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(kOurs[1], static_cast<unsigned>(CU_MEMHOSTALLOC_DEVICEMAP));
}

TEST(CudaDriverApi, HasTheLayoutsOfNvidiasHeader) {
  EXPECT_EQ(sizeof(saccade::cuda::CUlaunchConfig), sizeof(::CUlaunchConfig));
  EXPECT_EQ(offsetof(saccade::cuda::CUlaunchConfig, hStream), offsetof(::CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(saccade::cuda::CUlaunchConfig, attrs), offsetof(::CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(saccade::cuda::CUlaunchConfig, numAttrs), offsetof(::CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(saccade::cuda::CUlaunchAttribute), sizeof(::CUlaunchAttribute));
  EXPECT_EQ(offsetof(saccade::cuda::CUlaunchAttribute, value), offsetof(::CUlaunchAttribute, value));
}

}  // namespace
#else
TEST(CudaDriverApi, HasTheValuesOfNvidiasHeader) {
  static_cast<void>(kOurs);
  GTEST_SKIP() << "needs cuda.h of a CUDA toolkit";
}
#endif
