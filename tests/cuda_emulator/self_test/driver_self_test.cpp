#include <gmock/gmock.h>

#include <thread>

#include "driver/state.hpp"
#include "self_test/emulated_device.hpp"

// The emulated driver performs and rejects what the real one does.
namespace saccade::emulator {
namespace {

constexpr const char* kAddOne = R"(
#include "launch.cuh"
extern "C" __global__ void __launch_bounds__(64) k(float* x) {
  pdl_wait_and_trigger();
  x[threadIdx.x] += 1;
})";

CUgraph capture(EmulatedDevice& device, CUfunction kernel, CUdeviceptr x) {
  CUgraph graph = nullptr;
  EXPECT_EQ(device.driver.cuStreamBeginCapture_v2(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuMemsetD8Async(x, 0, 16, device.stream), CUDA_SUCCESS);
  EXPECT_EQ(device.launch(kernel, 1, 8, {x}, 0, true), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuStreamEndCapture(device.stream, &graph), CUDA_SUCCESS);
  return graph;
}

TEST(EmulatedDriver, ReplaysAGraph) {
  EmulatedDevice device;
  const DriverApi& driver = device.driver;
  const CUdeviceptr x = device.upload(std::vector<float>(8, 5.0F));
  CUgraph graph = capture(device, device.kernel(kAddOne), x);
  EXPECT_EQ(device.download<float>(x, 2), (std::vector<float>{5, 5}));  // captured, not executed
  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(driver.cuGraphLaunch(executable, device.stream), CUDA_SUCCESS);
  EXPECT_STREQ(device.kernels(), "");  // no call has synchronised
  EXPECT_EQ(device.download<float>(x, 8), (std::vector<float>{1, 1, 1, 1, 7, 7, 7, 7}));
  EXPECT_STREQ(device.kernels(), "k\nk\n");
  EXPECT_EQ(driver.cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphLaunch(executable, device.stream), kInvalidHandle);
}

TEST(EmulatedDriver, RefusesDuringCapture) {
  EmulatedDevice device;
  const DriverApi& driver = device.driver;
  CUdeviceptr address = 0;
  CUgraph graph = nullptr;
  const auto invalidates = [&](auto call) {
    EXPECT_EQ(driver.cuStreamBeginCapture_v2(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamBeginCapture_v2(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), kIllegalState);
    EXPECT_EQ(call(), kCaptureUnsupported);
    EXPECT_EQ(driver.cuStreamEndCapture(device.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
  };
  invalidates([&] { return driver.cuMemAlloc_v2(&address, 4); });
  invalidates([&] { return driver.cuStreamSynchronize(device.stream); });
  invalidates([&] { return driver.cuMemcpyHtoD_v2(address, &graph, 4); });

  EXPECT_EQ(driver.cuStreamBeginCapture_v2(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  std::thread([&] {
    CUcontext context = nullptr;
    EXPECT_EQ(driver.cuStreamEndCapture(device.stream, &graph), kInvalidContext);
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    driver.cuCtxSetCurrent(context);
    EXPECT_EQ(driver.cuStreamEndCapture(device.stream, &graph), kCaptureWrongThread);
    EXPECT_EQ(driver.cuMemAlloc_v2(&address, 4), CUDA_SUCCESS);  // another thread's capture does not interfere
    EXPECT_EQ(driver.cuMemFree_v2(address), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(driver.cuStreamEndCapture(device.stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST(EmulatedDriver, RefusesLaunches) {
  EmulatedDevice device;
  const CUdeviceptr x = device.upload(std::vector<float>(64));
  const CUfunction kernel = device.kernel(kAddOne);
  EXPECT_EQ(device.launch(kernel, 0, 64, {x}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device.launch(kernel, 1, 1025, {x}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device.launch(kernel, 1, 65, {x}), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);  // its launch bounds
  EXPECT_EQ(device.launch(kernel, 1, 64, {x}, 49153), CUDA_ERROR_INVALID_VALUE);
  constexpr int kMost = 227 << 10;
  const auto allow = [&](int bytes) {
    return device.driver.cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
  };
  EXPECT_EQ(allow(kMost + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(kMost), CUDA_SUCCESS);
  EXPECT_EQ(device.run(kernel, 1, 64, {x}, kMost), CUDA_SUCCESS);
}

TEST(EmulatedDriver, BreaksTheDeviceWhereAKernelWould) {
  EmulatedDevice device;
  const CUfunction kernel = device.kernel(kAddOne);
  EXPECT_EQ(device.run(kernel, 1, 8, {4096}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(device.driver.cuStreamSynchronize(device.stream), CUDA_ERROR_ILLEGAL_ADDRESS);  // sticky
  device.reset();
  EXPECT_EQ(device.driver.cuStreamSynchronize(device.stream), CUDA_SUCCESS);

  const CUfunction hasty = device.kernel("extern \"C\" __global__ void k(float*) {}");
  EXPECT_EQ(device.launch(hasty, 1, 8, {device.allocate(4)}, 0, true), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuStreamSynchronize(device.stream), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(EmulatedDriver, CallsTheHost) {
  EmulatedDevice device;
  struct Seen {
    EmulatedDevice* device;
    CUresult refused;
  } seen{&device, CUDA_SUCCESS};
  const auto function = [](void* data) {
    auto& its = *static_cast<Seen*>(data);
    std::size_t free = 0;
    its.refused = its.device->driver.cuMemGetInfo_v2(&free, &free);
  };
  ASSERT_EQ(device.driver.cuLaunchHostFunc(device.stream, function, &seen), CUDA_SUCCESS);
  EXPECT_EQ(seen.refused, CUDA_SUCCESS);  // not yet
  ASSERT_EQ(device.driver.cuStreamSynchronize(device.stream), CUDA_SUCCESS);
  EXPECT_EQ(seen.refused, kNotPermitted);
}

TEST(EmulatedDriver, TimesBetweenEvents) {
  EmulatedDevice device;
  const DriverApi& driver = device.driver;
  CUevent events[2];
  for (CUevent& event : events) ASSERT_EQ(driver.cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  const CUdeviceptr x = device.allocate(4);
  float milliseconds = 0;
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, events[0], events[1]), kInvalidHandle);
  driver.cuEventRecord(events[0], device.stream);
  driver.cuMemsetD8Async(x, 0, 4, device.stream);
  driver.cuEventRecord(events[1], device.stream);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, events[0], events[1]), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(driver.cuStreamSynchronize(device.stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, events[0], events[1]), CUDA_SUCCESS);
  EXPECT_FLOAT_EQ(milliseconds, 2e-3F);  // the record and what follows it
  for (CUevent event : events) EXPECT_EQ(driver.cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(events[0], device.stream), kInvalidHandle);
}

TEST(EmulatedDriver, WaitsForAnotherStream) {
  EmulatedDevice device;
  const DriverApi& driver = device.driver;
  const CUdeviceptr x = device.upload(std::vector<float>(8, 1.0F));
  const CUfunction kernel = device.kernel(kAddOne);
  CUstream other = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(driver.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamWaitEvent(device.stream, event, 0), CUDA_SUCCESS);  // never recorded
  ASSERT_EQ(driver.cuMemsetD8Async(x, 0, 32, other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuEventRecord(event, other), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamWaitEvent(device.stream, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(device.launch(kernel, 1, 8, {x}), CUDA_SUCCESS);
  EXPECT_EQ(device.download<float>(x, 1), (std::vector<float>{1}));
  EXPECT_EQ(driver.cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy_v2(other), CUDA_SUCCESS);
}

TEST(EmulatedDriver, CapturesBranchesThatJoin) {
  EmulatedDevice device;
  const DriverApi& driver = device.driver;
  const CUdeviceptr x = device.upload(std::vector<float>(8, 1.0F));
  const CUfunction kernel = device.kernel(kAddOne);
  CUstream branch = nullptr;
  CUevent fork = nullptr;
  CUevent join = nullptr;
  ASSERT_EQ(driver.cuStreamCreate(&branch, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (CUevent* event : {&fork, &join}) ASSERT_EQ(driver.cuEventCreate(event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  const auto capture_with = [&](bool joins) {
    CUgraph graph = nullptr;
    EXPECT_EQ(driver.cuStreamBeginCapture_v2(device.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuMemsetD8Async(x, 0, 32, device.stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuEventRecord(fork, device.stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamWaitEvent(branch, fork, 0), CUDA_SUCCESS);
    EXPECT_EQ(device.launch(kernel, 1, 8, {x}), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuMemsetD8Async(x + 16, 0, 16, branch), CUDA_SUCCESS);
    if (joins) {
      EXPECT_EQ(driver.cuEventRecord(join, branch), CUDA_SUCCESS);
      EXPECT_EQ(driver.cuStreamWaitEvent(device.stream, join, 0), CUDA_SUCCESS);
    }
    EXPECT_EQ(driver.cuStreamEndCapture(device.stream, &graph), joins ? CUDA_SUCCESS : kCaptureUnjoined);
    return graph;
  };
  EXPECT_EQ(capture_with(false), nullptr);
  CUgraph graph = capture_with(true);
  EXPECT_EQ(driver.cuStreamWaitEvent(branch, join, 0), kCapturedEvent);  // the capture is over
  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphLaunch(executable, device.stream), CUDA_SUCCESS);
  EXPECT_EQ(device.download<float>(x, 8), (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(driver.cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
  for (CUevent event : {fork, join}) EXPECT_EQ(driver.cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy_v2(branch), CUDA_SUCCESS);
}

TEST(EmulatedDriver, FailsOnRequest) {
  EmulatedDevice device;
  const DriverApi& driver = device.driver;
  device.fail("cuMemAlloc_v2", 1, CUDA_ERROR_OUT_OF_MEMORY);
  device.allocate(4);
  CUdeviceptr address = 0;
  EXPECT_EQ(driver.cuMemAlloc_v2(&address, 4), CUDA_ERROR_OUT_OF_MEMORY);
  device.allocate(4);
  EXPECT_EQ(driver.cuMemAlloc_v2(&address, std::size_t{1} << 40), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_STREQ(device.calls(), "cuMemAlloc_v2\ncuMemAlloc_v2\ncuMemAlloc_v2\ncuMemAlloc_v2\n");
  const char* name = nullptr;
  EXPECT_EQ(driver.cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
}

TEST(EmulatedDriver, KnowsItsMemory) {
  EmulatedDevice device;
  const CUdeviceptr x = device.allocate(10);
  EXPECT_EQ(x % 256, 0U);
  EXPECT_EQ(device.driver.cuMemsetD8Async(x, 0, 11, device.stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device.driver.cuMemFree_v2(x + 1), CUDA_ERROR_INVALID_VALUE);
  void* pinned = nullptr;
  ASSERT_EQ(device.driver.cuMemHostAlloc(&pinned, 4, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  CUdeviceptr mapped = 0;
  EXPECT_EQ(device.driver.cuMemHostGetDevicePointer_v2(&mapped, pinned, 0), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  int own = 0;
  EXPECT_EQ(device.driver.cuMemHostGetDevicePointer_v2(&mapped, &own, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(device.driver.cuMemHostRegister_v2(&own, sizeof own, CU_MEMHOSTREGISTER_DEVICEMAP), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuMemHostGetDevicePointer_v2(&mapped, &own, 0), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuMemFreeHost(&own), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device.driver.cuMemHostUnregister(&own), CUDA_SUCCESS);
  EXPECT_EQ(device.driver.cuMemHostUnregister(&own), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace saccade::emulator
