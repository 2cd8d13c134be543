#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "calls.hpp"
#include "driver/driver_functions.hpp"
#include "driver/state.hpp"
#include "guard.hpp"

// Device memory of another process (CUDA IPC): a file that both have mapped. The exporting process has
// SACCADE_EMULATOR_EXPORT in its environment.
namespace saccade::emulator {
namespace {

constexpr std::uint64_t kMagic = 0x6574616C756D65;

struct Handle {
  std::uint64_t magic;
  pid_t process;
  int file;
  std::size_t whole;
  std::size_t bytes;
};
static_assert(sizeof(Handle) <= sizeof(cuda::CUipcMemHandle));

struct Opened {
  std::byte* base = nullptr;
  std::size_t whole = 0;
  int count = 0;
};

std::mutex mutex;
std::map<std::pair<pid_t, int>, Opened> opened;

std::byte* map_file_of(const Handle& handle) {
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* mapped = mmap(nullptr, handle.whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

cuda::CUdeviceptr address_in(const Opened& memory) {
  return reinterpret_cast<std::uintptr_t>(memory.base) + kGuardBytes;
}

}  // namespace
}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

// Not in the table: the backend exports no memory.
#pragma GCC visibility push(default)
extern "C" CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  SACCADE_BEGIN(cuIpcGetMemHandle, Needs::kContext);
  const auto found = exported(address);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  const Handle made{
      .magic = kMagic, .process = getpid(), .file = found->file, .whole = found->whole, .bytes = found->bytes};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &made, sizeof made);
  return CUDA_SUCCESS;
}
#pragma GCC visibility pop

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  SACCADE_BEGIN(cuIpcOpenMemHandle_v2, Needs::kNoCapture);
  Handle given;
  std::memcpy(&given, &handle, sizeof given);
  if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || given.magic != kMagic) return CUDA_ERROR_INVALID_VALUE;
  if (given.process == getpid()) return kInvalidContext;
  const std::scoped_lock lock(mutex);
  Opened& memory = opened[{given.process, given.file}];
  if (memory.count == 0) {
    memory = {.base = map_file_of(given), .whole = given.whole};
    if (memory.base == nullptr) return CUDA_ERROR_INVALID_VALUE;
    add_imported(address_in(memory), given.bytes);
  }
  ++memory.count;
  *address = address_in(memory);
  return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  SACCADE_BEGIN(cuIpcCloseMemHandle, Needs::kNoCapture);
  const CUresult result = drain_all();
  const std::scoped_lock lock(mutex);
  for (auto& [key, memory] : opened) {
    if (memory.count == 0 || address_in(memory) != address) continue;
    if (--memory.count > 0) return result;
    remove_imported(address);
    munmap(memory.base, memory.whole);
    return result;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace saccade::cuda
