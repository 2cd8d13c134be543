// An emulated GPU: libcuda.so.1, libnvrtc.so.13 and libcublasLt.so.13 that execute kernels on the CPU, and
// libnvidia-ml.so.1 with constant numbers about it. They serve tests of the CUDA backend on machines without a GPU, and
// find errors that a device does not show.
//
// A test finds them by LD_LIBRARY_PATH (see CMakeLists.txt). The backend opens them like NVIDIA's libraries and has no
// hook for them. The emulated NVRTC passes the kernel, after a prelude of CUDA's built-ins (device/), to the host's C++
// compiler. The "cubin" is a shared object, cached under a hash of everything that it is made of. The driver loads it
// and runs the kernel thread by thread: a thread that waits at a barrier keeps its stack (a fiber), and the next one
// starts on another.
//
// The emulator is stricter than a device, so that races fail every time:
// - Work on a stream executes when a call synchronises (cuStreamSynchronize, cuMemFree, ...), not before. cp.async
//   completes in cp_async_wait(), wgmma in wgmma_wait(). Asynchronous writes that complete on an mbarrier, from
//   cp.async.bulk and st.async, take effect when no thread can proceed without them, or at once.
// - Fresh memory holds 0xFF (NaN, -1): device and pinned memory, and shared memory before every block.
// - Writes beyond an allocation or beyond dynamic shared memory abort the process with the kernel's name. So do
//   misaligned vectors, indices out of an array's bounds, division by zero and shifts by 32.
// - Divergent barriers abort the process: threads that do not all arrive, or lanes that wait at different places.
// - Every other block (or cluster) runs its threads in descending order, and its asynchronous writes take effect at
//   once: each order reveals other missing barriers.
// - A kernel launched with programmatic stream serialization that never executes griddepcontrol.wait breaks the device.
//   A thread of it that touches memory before it executes that aborts the process, unless it reads constants: memory
//   that the host filled and no work on a stream writes (state.hpp). A kernel with a pointer argument outside of device
//   memory breaks the device, too.
// - The driver's preconditions are checked: calls before cuInit, without a context, during capture, in a host function,
//   on destroyed objects.
// - In a process with AddressSanitizer, a load or store outside of allocated memory aborts it, too.
//
// Not emulated: speed; casts of floats beyond the range of their integer type (a device saturates, a CPU does not);
// spin-waiting between threads (hangs); concurrency of blocks outside of clusters; the summation order of mma (sums are
// exact and rounded once) and the last bits of exp and the like.
//
// Environment:
//   SACCADE_EMULATOR_CAPABILITY  compute capability of the device (9.0)
//   SACCADE_EMULATOR_DEVICES     number of devices (1), which share memory; a context may be current in any thread
//   SACCADE_EMULATOR_DRIVER      version of the driver (13000: CUDA 13.0)
//   SACCADE_EMULATOR_MEMORY      size of device memory in bytes (16 GiB; allocated on demand)
//   SACCADE_EMULATOR_CACHE       cache of compiled kernels (in the build folder)
//   SACCADE_EMULATOR_SOURCES     a folder for the sources of all kernels, for NVIDIA's compiler
//   SACCADE_EMULATOR_EXPORT      yes: device memory can be opened by other processes (cuIpcGetMemHandle)
//   SACCADE_EMULATOR_RUN         no: kernels are not compiled, and launches only check their pointers; quick access to
//                                the kernels of a plan and their sources
//   SACCADE_EMULATOR_ORDER       order of a block's threads: ascending, descending, or alternate (the default)
//   SACCADE_EMULATOR_FAIL        FUNCTION:AFTER:RESULT,...: emulator_fail() for processes that cannot call it
// emulator.hpp is the interface for a test in the same process.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "calls.hpp"
#include "driver/driver_functions.hpp"
#include "driver/state.hpp"
#include "emulator.hpp"
#include "nvml/emulated_gpu.hpp"

namespace saccade::emulator {
namespace {

constexpr int kMostDevices = 8;

std::atomic<bool> initialised{false};
std::atomic<int> failure{0};  // that made the device unusable
thread_local CUcontext current = nullptr;
thread_local bool in_host_function = false;

int device_count() {
  static const int count = std::clamp(std::atoi(setting("SACCADE_EMULATOR_DEVICES", "1").c_str()), 1, kMostDevices);
  return count;
}

bool is_device(CUdevice device) { return device >= 0 && device < device_count(); }

char contexts[kMostDevices];

CUcontext context_of(CUdevice device) { return reinterpret_cast<CUcontext>(&contexts[device]); }

bool is_context(CUcontext context) {
  const auto* at = reinterpret_cast<const char*>(context);
  return at >= contexts && at < contexts + device_count();
}

}  // namespace

CUresult begin_call(const char* function, Needs needs) {
  if (const int injected = note_call(function); injected != 0) return static_cast<CUresult>(injected);
  if (in_host_function && needs != Needs::kNothing) return kNotPermitted;
  if (needs != Needs::kNothing && !initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::kContext || needs == Needs::kNoCapture) {
    if (current == nullptr) return kInvalidContext;
    if (const int broken = failure; broken != 0) return static_cast<CUresult>(broken);
  }
  return needs == Needs::kNoCapture && invalidate_captures() ? kCaptureUnsupported : CUDA_SUCCESS;
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
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  SACCADE_BEGIN(cuDeviceGet, Needs::kInit);
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  SACCADE_BEGIN(cuDeviceGetName, Needs::kInit);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "Emulated GPU");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  SACCADE_BEGIN(cuDeviceGetPCIBusId, Needs::kInit);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(id, static_cast<std::size_t>(length), "%s", kPciBusId);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  SACCADE_BEGIN(cuDeviceGetAttribute, Needs::kInit);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
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
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = memory_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  SACCADE_BEGIN(cuDevicePrimaryCtxRetain, Needs::kInit);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = context_of(device);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  SACCADE_BEGIN(cuCtxSetCurrent, Needs::kInit);
  if (context != nullptr && !is_context(context)) return kInvalidContext;
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
