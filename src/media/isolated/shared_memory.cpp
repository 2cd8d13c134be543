#include "media/isolated/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/memory_budget.hpp"

namespace saccade::isolated {
namespace {

[[noreturn]] void fail_by(int error, std::size_t bytes) {
  fail(ErrorCode::kIo, "{} of shared memory can't be had for a source's frames: {}", readable_bytes(bytes),
       std::strerror(error));
}

}  // namespace

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

SharedMemory SharedMemory::create(std::size_t buffers, std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / buffers - page - kSlack;
  if (bytes > most) fail_by(ENOMEM, bytes);
  const int descriptor = memfd_create("saccade-frames", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) fail_by(errno, bytes);
  SharedMemory memory(descriptor, buffers, (bytes + kSlack + page - 1) / page * page);
  const auto size = static_cast<off_t>(memory.bytes());
  // Allocated at once: a page that is missing later would end a process with SIGBUS.
  if (ftruncate(descriptor, size) != 0 || fallocate(descriptor, 0, 0, size) != 0) fail_by(errno, memory.bytes());
  if (fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail_by(errno, memory.bytes());
  memory.map();
  return memory;
}

SharedMemory SharedMemory::open(int descriptor, std::size_t buffers, std::size_t buffer_bytes) {
  SharedMemory memory(descriptor, buffers, buffer_bytes);
  struct stat facts {};
  const bool fits = fstat(descriptor, &facts) == 0 && static_cast<std::size_t>(facts.st_size) == memory.bytes();
  if (!fits || buffer_bytes <= kSlack) fail(ErrorCode::kIo, "the shared memory has another size than announced");
  memory.map();
  return memory;
}

void SharedMemory::map() {
  void* const mapped = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
  if (mapped == MAP_FAILED) fail_by(errno, bytes());
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, bytes());
  if (descriptor_ >= 0) close(descriptor_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      buffers_(other.buffers_),
      buffer_bytes_(other.buffer_bytes_),
      data_(std::exchange(other.data_, nullptr)) {}

}  // namespace saccade::isolated
