// An emulated GPU: libcuda.so.1, libnvrtc.so.13 and libcublasLt.so.13 of no GPU at all, which really run the kernels,
// on the CPU. They are for tests of the CUDA backend where there is no device, and for the mistakes that a device does
// not show.
//
// A test finds them by LD_LIBRARY_PATH (CMakeLists.txt says how); the backend opens them as it opens NVIDIA's, and has
// no hook for it. What they are: NVRTC's library hands the kernel, behind a prelude of CUDA's words (device/), to the
// host's C++ compiler; the "cubin" is a shared object, kept in a cache by a hash of all that it is made of. The driver
// loads it and calls the kernel thread by thread: a thread that waits at a barrier keeps its stack (a fiber), and the
// next begins on another.
//
// They are stricter than a device, since a test should fail where a device would now and then:
// - Work of a stream is done when somebody waits for it (cuStreamSynchronize, cuMemFree, ...), not before: what is read
//   too early is not there. Copies of cp_async_16 arrive in cp_async_wait; those in the name of a barrier, and stores
//   to another block of the cluster, when no thread can go on without them, or at once; products of a warpgroup when
//   they are waited for.
// - Fresh memory holds 0xFF (nan, -1): the device's, the host's, and shared memory before every block.
// - What is written behind an allocation, or behind dynamic shared memory, ends the process with the kernel's name. So
//   do a misaligned vector, an index outside of an array of known bounds, a division by zero, a shift by 32.
// - Threads that do not all come to a barrier, or lanes that wait for others in different places, end the process.
// - Every other block (or cluster) runs its threads from the last to the first, and what is copied in the name of a
//   barrier arrives at once there: either shows other missing barriers.
// - A kernel launched with programmatic stream serialization that never waits for the one before it breaks the device;
//   so does a kernel whose pointer points into no memory of the device's.
// - What a driver refuses is refused: calls before cuInit, without a context, during capture, in a host function, of
//   what was destroyed.
// In a build with AddressSanitizer kernels are instrumented, too.
//
// What they do not show: speed; a cast of a float beyond its integer type (a device saturates, a CPU does not); threads
// that spin until another one writes (they hang); blocks that run at the same time, other than a cluster's; the order
// of sums in mma (here they are exact, rounded once) and the last bits of exp and its like.
//
// Settings of the environment:
//   SACCADE_EMULATOR_CAPABILITY  the device's compute capability (9.0)
//   SACCADE_EMULATOR_DRIVER      the driver's version (13000: of CUDA 13.0)
//   SACCADE_EMULATOR_MEMORY      its memory in bytes (16 GiB; nothing is taken before it is asked for)
//   SACCADE_EMULATOR_CACHE       where compiled kernels are kept (in the build folder)
//   SACCADE_EMULATOR_SOURCES     a folder in which each kernel is left as CUDA C++, for a compiler of GPUs
//   SACCADE_EMULATOR_RUN         no: kernels are not compiled, and launches of them only look at their pointers; what
//                                plans ask for (and their sources) is there in no time
//   SACCADE_EMULATOR_ORDER       of a block's threads: ascending, descending, or alternate (the default)
//   SACCADE_EMULATOR_FAIL        FUNCTION:AFTER:RESULT,...: emulator_fail() for a process that can't call it
// emulator.hpp has what a test in the same process may call.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "calls.hpp"
#include "driver_functions.hpp"
#include "emulator.hpp"
#include "state.hpp"

namespace saccade::emulator {
namespace {

constexpr CUdevice kDevice = 0;

std::atomic<bool> initialised{false};
std::atomic<int> failure{0};  // that made the device unusable
thread_local CUcontext current = nullptr;
thread_local bool in_host_function = false;

CUcontext the_context() {
  static char context;
  return reinterpret_cast<CUcontext>(&context);
}

}  // namespace

CUresult begin_call(const char* function, Needs needs) {
  if (const int asked = note_call(function); asked != 0) return static_cast<CUresult>(asked);
  if (in_host_function && needs != Needs::kNothing) return kNotPermitted;
  if (needs != Needs::kNothing && !initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::kContext || needs == Needs::kNoCapture) {
    if (current == nullptr) return kInvalidContext;
    if (const int broken = failure; broken != 0) return static_cast<CUresult>(broken);
  }
  return needs == Needs::kNoCapture && spoil_captures() ? kCaptureUnsupported : CUDA_SUCCESS;
}

void set_in_host_function(bool in) { in_host_function = in; }

CUresult break_device(CUresult result) {
  failure = result;
  return result;
}

int capability() {
  static const int capability = [] {
    const std::string text = setting("SACCADE_EMULATOR_CAPABILITY", "9.0");
    const std::size_t point = text.find('.');
    return 10 * std::atoi(text.c_str()) + (point == std::string::npos ? 0 : std::atoi(text.c_str() + point + 1));
  }();
  return capability;
}

int most_shared_bytes() {
  switch (capability()) {
    case 75: return 64 << 10;
    case 80:
    case 87: return 163 << 10;
    case 86:
    case 89:
    case 120:
    case 121: return 99 << 10;
    default: return 227 << 10;
  }
}

}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuInit(unsigned flags) {
  SACCADE_BEGIN(cuInit, Needs::kNothing);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  SACCADE_BEGIN(cuDriverGetVersion, Needs::kNothing);
  *version = std::atoi(setting("SACCADE_EMULATOR_DRIVER", "13000").c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  SACCADE_BEGIN(cuDeviceGetCount, Needs::kInit);
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  SACCADE_BEGIN(cuDeviceGet, Needs::kInit);
  if (ordinal != kDevice) return CUDA_ERROR_INVALID_DEVICE;
  *device = kDevice;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  SACCADE_BEGIN(cuDeviceGetName, Needs::kInit);
  if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "Emulated GPU");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  SACCADE_BEGIN(cuDeviceGetAttribute, Needs::kInit);
  if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 8; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1000000; break;  // kHz
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 4 << 20; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability() / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability() % 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = most_shared_bytes(); break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  SACCADE_BEGIN(cuDeviceTotalMem_v2, Needs::kInit);
  if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = memory_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  SACCADE_BEGIN(cuDevicePrimaryCtxRetain, Needs::kInit);
  if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
  *context = the_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  SACCADE_BEGIN(cuCtxSetCurrent, Needs::kInit);
  if (context != nullptr && context != the_context()) return kInvalidContext;
  current = context;
  return CUDA_SUCCESS;
}

}  // namespace saccade::cuda

bool emulator_holds(const void* address, std::size_t bytes) {
  return saccade::emulator::is_device_memory(reinterpret_cast<std::uintptr_t>(address), bytes);
}

bool emulator_captures(void* stream) {
  return saccade::emulator::is_capturing(static_cast<saccade::cuda::CUstream>(stream));
}

int emulator_live() {
  using namespace saccade::emulator;
  const std::size_t handed_out = handles<CUstream_st>().all().size() + handles<CUevent_st>().all().size() +
                                 handles<CUgraph_st>().all().size() + handles<CUgraphExec_st>().all().size();
  return live_allocations() + live_modules() + static_cast<int>(handed_out);
}

void emulator_reset() {
  saccade::emulator::failure = 0;
  saccade::emulator::forget_calls();
}
