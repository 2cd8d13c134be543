#include "shared_memory.hpp"

#include <cstdlib>
#include <cstring>

#include "guard.hpp"

namespace saccade::emulator {
namespace {

// What kernels that swizzle by address ask for at most.
constexpr std::size_t kAlignment = 1024;

}  // namespace

SharedMemory::SharedMemory(const saccade_emulator::Object& object, std::size_t bytes)
    : object_(object),
      bytes_(bytes),
      dynamic_(static_cast<unsigned char*>(
          std::aligned_alloc(kAlignment, (bytes + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment))) {
  set_guard(dynamic_ + bytes_);
}

SharedMemory::~SharedMemory() {
  drop_guard(dynamic_ + bytes_);
  std::free(dynamic_);
}

void SharedMemory::poison() {
  if (object_.shared_begin != nullptr)
    std::memset(object_.shared_begin, kPoison, static_cast<std::size_t>(object_.shared_end - object_.shared_begin));
  std::memset(dynamic_, kPoison, bytes_);
}

bool SharedMemory::intact() const { return guard_holds(dynamic_ + bytes_); }

bool SharedMemory::holds(const void* address, std::size_t bytes) const {
  const auto* begin = static_cast<const unsigned char*>(address);
  const auto within = [&](const unsigned char* first, const unsigned char* end) {
    return begin >= first && begin + bytes <= end;
  };
  return within(dynamic_, dynamic_ + bytes_) || within(object_.shared_begin, object_.shared_end);
}

}  // namespace saccade::emulator
