#pragma once

#include <cstddef>
#include <cstdint>

// The parts of the CUDA driver's and NVRTC's ABI that are used, declared here so that building needs no toolkit. Names
// and values are NVIDIA's (cuda.h, nvrtc.h); tests/cuda/driver_api_test.cpp compares them with the headers if they are
// installed.
namespace saccade::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUhostFn = void (*)(void* user_data);

struct CUipcMemHandle {
  char reserved[64];
};

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_UNKNOWN = 999,
};

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

enum CUstreamCaptureMode : int { CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1 };
enum CUstreamCaptureStatus : int { CU_STREAM_CAPTURE_STATUS_NONE = 0 };
inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1;
inline constexpr unsigned CU_EVENT_DEFAULT = 0;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1;
inline constexpr unsigned CU_MEMHOSTALLOC_DEVICEMAP = 2;
inline constexpr unsigned CU_MEMHOSTREGISTER_PORTABLE = 1;
inline constexpr unsigned CU_MEMHOSTREGISTER_DEVICEMAP = 2;

enum CUlaunchAttributeID : int {
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

union CUlaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
};

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[4];
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

enum CUmemorytype : int { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };

struct CUDA_MEMCPY2D {
  std::size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  void* srcArray;
  std::size_t srcPitch;
  std::size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  void* dstArray;
  std::size_t dstPitch;
  std::size_t WidthInBytes, Height;
};

// Functions of the driver, by the symbol that libcuda exports; a table of pointers has one each.
// clang-format off
#define SACCADE_CUDA_DRIVER(X)                                                                                    \
  X(cuInit, (unsigned flags))                                                                                     \
  X(cuDriverGetVersion, (int* version))                                                                           \
  X(cuGetErrorName, (CUresult error, const char** text))                                                          \
  X(cuGetErrorString, (CUresult error, const char** text))                                                        \
  X(cuDeviceGetCount, (int* count))                                                                               \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                                                                \
  X(cuDeviceGetName, (char* name, int length, CUdevice device))                                                   \
  X(cuDeviceGetPCIBusId, (char* id, int length, CUdevice device))                                                 \
  X(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device))                            \
  X(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice device))                                                  \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                             \
  X(cuCtxSetCurrent, (CUcontext context))                                                                         \
  X(cuModuleLoadData, (CUmodule * module, const void* image))                                                     \
  X(cuModuleUnload, (CUmodule module))                                                                            \
  X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))                              \
  X(cuFuncGetAttribute, (int* value, CUfunction_attribute attribute, CUfunction function))                        \
  X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))                         \
  X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                                   \
  X(cuMemAlloc_v2, (CUdeviceptr * address, std::size_t bytes))                                                    \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                          \
  X(cuMemGetAddressRange_v2, (CUdeviceptr * base, std::size_t* bytes, CUdeviceptr address))                       \
  X(cuIpcOpenMemHandle_v2, (CUdeviceptr * address, CUipcMemHandle handle, unsigned flags))                        \
  X(cuIpcCloseMemHandle, (CUdeviceptr address))                                                                   \
  X(cuMemHostAlloc, (void** address, std::size_t bytes, unsigned flags))                                          \
  X(cuMemFreeHost, (void* address))                                                                               \
  X(cuMemHostRegister_v2, (void* address, std::size_t bytes, unsigned flags))                                     \
  X(cuMemHostUnregister, (void* address))                                                                         \
  X(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device, void* host, unsigned flags))                             \
  X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, std::size_t bytes))                                       \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream))                 \
  X(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream))                       \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream))                 \
  X(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* copy, CUstream stream))                                             \
  X(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream))                   \
  X(cuStreamCreate, (CUstream * stream, unsigned flags))                                                          \
  X(cuStreamDestroy_v2, (CUstream stream))                                                                        \
  X(cuStreamSynchronize, (CUstream stream))                                                                       \
  X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status))                                       \
  X(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))                                         \
  X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                                       \
  X(cuEventCreate, (CUevent * event, unsigned flags))                                                             \
  X(cuEventDestroy_v2, (CUevent event))                                                                           \
  X(cuEventRecord, (CUevent event, CUstream stream))                                                              \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                                          \
  X(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))                                        \
  X(cuLaunchKernelEx, (const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra))        \
  X(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void* user_data))                                      \
  X(cuGraphInstantiateWithFlags, (CUgraphExec * executable, CUgraph graph, unsigned long long flags))             \
  X(cuGraphLaunch, (CUgraphExec executable, CUstream stream))                                                     \
  X(cuGraphExecDestroy, (CUgraphExec executable))                                                                 \
  X(cuGraphDestroy, (CUgraph graph))
// clang-format on

struct DriverApi {
#define SACCADE_CUDA_POINTER(name, parameters) CUresult(*name) parameters = nullptr;
  SACCADE_CUDA_DRIVER(SACCADE_CUDA_POINTER)
#undef SACCADE_CUDA_POINTER
};

using nvrtcProgram = struct _nvrtcProgram*;
enum nvrtcResult : int { NVRTC_SUCCESS = 0, NVRTC_ERROR_COMPILATION = 6 };

// clang-format off
#define SACCADE_NVRTC(X)                                                                                          \
  X(nvrtcVersion, (int* major, int* minor))                                                                       \
  X(nvrtcCreateProgram, (nvrtcProgram * program, const char* source, const char* name, int headers,               \
                         const char* const* sources, const char* const* names))                                   \
  X(nvrtcDestroyProgram, (nvrtcProgram * program))                                                                \
  X(nvrtcCompileProgram, (nvrtcProgram program, int options, const char* const* texts))                           \
  X(nvrtcGetProgramLogSize, (nvrtcProgram program, std::size_t* bytes))                                           \
  X(nvrtcGetProgramLog, (nvrtcProgram program, char* log))                                                        \
  X(nvrtcGetCUBINSize, (nvrtcProgram program, std::size_t* bytes))                                                \
  X(nvrtcGetCUBIN, (nvrtcProgram program, char* cubin))
// clang-format on

struct NvrtcApi {
#define SACCADE_NVRTC_POINTER(name, parameters) nvrtcResult(*name) parameters = nullptr;
  SACCADE_NVRTC(SACCADE_NVRTC_POINTER)
#undef SACCADE_NVRTC_POINTER
};

}  // namespace saccade::cuda
