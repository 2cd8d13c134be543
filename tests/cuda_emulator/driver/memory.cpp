#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "calls.hpp"
#include "driver/driver_functions.hpp"
#include "driver/state.hpp"
#include "guard.hpp"

// Device memory and pinned host memory, both host memory between guards.
namespace saccade::emulator {
namespace {

constexpr std::size_t kAlignment = 256;

enum class Kind { kDevice, kPinned };

struct Allocation {
  Kind kind = Kind::kDevice;
  std::size_t bytes = 0;
  bool constant = false;  // filled by the host, before any work
  bool worked_on = false;
  bool registered = false;  // the host's own memory, without guards
  bool imported = false;    // of another process, which has the guards
  int file = -1;            // that can be exported
};

struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Allocation> allocations;  // by address
  std::size_t used = 0;                              // of the device's
};

Memory& memory() {
  static auto* memory = new Memory;
  return *memory;
}

std::byte* pointer(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

bool can_export() {
  static const bool can = !setting("SACCADE_EMULATOR_EXPORT", "").empty();
  return can;
}

std::size_t whole_size(std::size_t bytes) {
  return (bytes + 2 * kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Memory of a file that another process can open; null: out of memory.
std::byte* map_file(std::size_t bytes, int& file) {
  file = memfd_create("saccade-emulator", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) return static_cast<std::byte*>(mapped);
  close(file);
  return nullptr;
}

/// [guard][BYTES][guard]; 0: out of memory.
std::uintptr_t allocate(Kind kind, std::size_t bytes) {
  const std::size_t whole = whole_size(bytes);
  int file = -1;
  auto* base = kind == Kind::kDevice && can_export() ? map_file(whole, file)
                                                     : static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole));
  if (base == nullptr) return 0;
  std::byte* start = base + kGuardBytes;
  std::memset(start, kPoison, bytes);
  set_guard(base);
  set_guard(start + bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  memory().allocations.emplace(
      address, Allocation{.kind = kind, .bytes = bytes, .constant = kind == Kind::kPinned, .file = file});
  if (kind == Kind::kDevice) memory().used += bytes;
  return address;
}

void expect_guards_of(std::uintptr_t address, const Allocation& allocation, const char* who) {
  if (allocation.registered || allocation.imported) return;
  const std::size_t bytes = allocation.bytes;
  const bool before = guard_holds(pointer(address) - kGuardBytes);
  if (before && guard_holds(pointer(address) + bytes)) return;
  std::fprintf(stderr, "emulator: %s: something is written %s the %zu bytes at %p\n", who, before ? "behind" : "before",
               bytes, static_cast<void*>(pointer(address)));
  std::fflush(stderr);
  std::abort();
}

bool free_allocation(Kind kind, std::uintptr_t address, const char* who) {
  const std::scoped_lock lock(memory().mutex);
  const auto found = memory().allocations.find(address);
  if (found == memory().allocations.end() || found->second.kind != kind || found->second.registered ||
      found->second.imported)
    return false;
  expect_guards_of(address, found->second, who);
  drop_guard(pointer(address) - kGuardBytes);
  drop_guard(pointer(address) + found->second.bytes);
  std::memset(pointer(address), kPoison, found->second.bytes);
  if (kind == Kind::kDevice) memory().used -= found->second.bytes;
  const Allocation freed = found->second;
  memory().allocations.erase(found);
  std::byte* const base = pointer(address) - kGuardBytes;
  if (freed.file < 0) {
    std::free(base);
  } else {
    munmap(base, whole_size(freed.bytes));
    close(freed.file);
  }
  return true;
}

/// The allocation that contains ADDRESS, or ends there; needs the lock.
std::pair<const std::uintptr_t, Allocation>* find(std::uintptr_t address) {
  auto after = memory().allocations.upper_bound(address);
  if (after == memory().allocations.begin()) return nullptr;
  --after;
  return address <= after->first + after->second.bytes ? &*after : nullptr;
}

}  // namespace

std::size_t memory_bytes() {
  static const std::size_t bytes = std::stoull(setting("SACCADE_EMULATOR_MEMORY", std::to_string(16ULL << 30)));
  return bytes;
}

bool is_device_memory(CUdeviceptr address, std::size_t bytes) {
  const std::scoped_lock lock(memory().mutex);
  const auto* found = find(address);
  return found != nullptr && bytes <= found->first + found->second.bytes - address;
}

bool is_pinned(const void* address) {
  const std::scoped_lock lock(memory().mutex);
  const auto* found = find(reinterpret_cast<std::uintptr_t>(address));
  return found != nullptr && found->second.kind == Kind::kPinned;
}

void expect_guards(CUdeviceptr address, const char* who) {
  const std::scoped_lock lock(memory().mutex);
  if (const auto* found = find(address); found != nullptr) expect_guards_of(found->first, found->second, who);
}

void note_upload(CUdeviceptr address) {
  const std::scoped_lock lock(memory().mutex);
  if (auto* found = find(address); found != nullptr) found->second.constant = true;
}

void note_work_on(CUdeviceptr address) {
  const std::scoped_lock lock(memory().mutex);
  if (auto* found = find(address); found != nullptr) found->second.worked_on = true;
}

bool is_variable(const void* address) {
  const std::scoped_lock lock(memory().mutex);
  const auto* found = find(reinterpret_cast<std::uintptr_t>(address));
  return found != nullptr && (found->second.worked_on || !found->second.constant);
}

std::optional<Exported> exported(CUdeviceptr address) {
  const std::scoped_lock lock(memory().mutex);
  const auto found = memory().allocations.find(address);
  if (found == memory().allocations.end() || found->second.file < 0) return std::nullopt;
  return Exported{found->second.file, whole_size(found->second.bytes), found->second.bytes};
}

void add_imported(CUdeviceptr address, std::size_t bytes) {
  const std::scoped_lock lock(memory().mutex);
  memory().allocations.emplace(address, Allocation{.kind = Kind::kDevice, .bytes = bytes, .imported = true});
}

void remove_imported(CUdeviceptr address) {
  const std::scoped_lock lock(memory().mutex);
  memory().allocations.erase(address);
}

int live_allocations() {
  const std::scoped_lock lock(memory().mutex);
  return static_cast<int>(memory().allocations.size());
}

}  // namespace saccade::emulator

namespace saccade::cuda {

using namespace emulator;

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  SACCADE_BEGIN(cuMemGetInfo_v2, Needs::kContext);
  const std::scoped_lock lock(memory().mutex);
  *total = memory_bytes();
  *free = *total - std::min(*total, memory().used);
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  SACCADE_BEGIN(cuMemAlloc_v2, Needs::kNoCapture);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::scoped_lock lock(memory().mutex);
  if (bytes > memory_bytes() - memory().used) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = allocate(Kind::kDevice, bytes);
  return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  SACCADE_BEGIN(cuMemFree_v2, Needs::kNoCapture);
  if (address == 0) return CUDA_SUCCESS;
  const CUresult result = drain_all();
  return free_allocation(Kind::kDevice, address, "cuMemFree") ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  SACCADE_BEGIN(cuMemGetAddressRange_v2, Needs::kContext);
  const std::scoped_lock lock(memory().mutex);
  const auto* found = emulator::find(address);
  if (found == nullptr || found->second.kind != Kind::kDevice) return CUDA_ERROR_INVALID_VALUE;
  *base = found->first;
  *bytes = found->second.bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  SACCADE_BEGIN(cuMemHostAlloc, Needs::kNoCapture);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::scoped_lock lock(memory().mutex);
  *address = pointer(allocate(Kind::kPinned, bytes));
  return *address == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* address) {
  SACCADE_BEGIN(cuMemFreeHost, Needs::kNoCapture);
  const CUresult result = drain_all();
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return free_allocation(Kind::kPinned, number, "cuMemFreeHost") ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned) {
  SACCADE_BEGIN(cuMemHostRegister_v2, Needs::kNoCapture);
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::scoped_lock lock(memory().mutex);
  const Allocation allocation{.kind = Kind::kPinned, .bytes = bytes, .constant = true, .registered = true};
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return memory().allocations.emplace(number, allocation).second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostUnregister(void* address) {
  SACCADE_BEGIN(cuMemHostUnregister, Needs::kNoCapture);
  const CUresult result = drain_all();
  const std::scoped_lock lock(memory().mutex);
  const auto found = memory().allocations.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == memory().allocations.end() || !found->second.registered) return CUDA_ERROR_INVALID_VALUE;
  memory().allocations.erase(found);
  return result;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned flags) {
  SACCADE_BEGIN(cuMemHostGetDevicePointer_v2, Needs::kContext);
  if (flags != 0 || !is_pinned(host)) return CUDA_ERROR_INVALID_VALUE;
  *device = reinterpret_cast<std::uintptr_t>(host);
  return CUDA_SUCCESS;
}

}  // namespace saccade::cuda
