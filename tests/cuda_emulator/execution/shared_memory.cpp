#include "execution/shared_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "guard.hpp"

namespace saccade::emulator {
namespace {

// Largest alignment of swizzled layouts.
constexpr std::size_t kSharedAlignment = 1024;

}  // namespace

SharedMemory::SharedMemory(const saccade_emulator::Object& object, std::size_t bytes)
    : object_(object),
      bytes_(bytes),
      dynamic_(static_cast<unsigned char*>(std::aligned_alloc(
          kSharedAlignment, (bytes + kGuardBytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment))),
      aside_(static_cast<std::size_t>(object.shared_end - object.shared_begin)) {
  set_guard(dynamic_ + bytes_);
}

SharedMemory::~SharedMemory() {
  drop_guard(dynamic_ + bytes_);
  std::free(dynamic_);
}

void SharedMemory::poison() {
  std::fill(aside_.begin(), aside_.end(), kPoison);
  std::memset(dynamic_, kPoison, bytes_);
}

bool SharedMemory::intact() const { return guard_holds(dynamic_ + bytes_); }

void SharedMemory::move_in() {
  in_place_ = true;
  std::copy(aside_.begin(), aside_.end(), object_.shared_begin);
}

void SharedMemory::move_out() {
  in_place_ = false;
  std::copy(object_.shared_begin, object_.shared_end, aside_.begin());
}

bool SharedMemory::is_declared(const void* address) const {
  const auto* byte = static_cast<const unsigned char*>(address);
  return byte >= object_.shared_begin && byte < object_.shared_end;
}

bool SharedMemory::holds(const void* address, std::size_t bytes) const {
  const auto* begin = static_cast<const unsigned char*>(address);
  if (is_declared(address)) return begin + bytes <= object_.shared_end;
  return begin >= dynamic_ && begin + bytes <= dynamic_ + bytes_;
}

unsigned char* SharedMemory::really(const void* address) {
  const auto* byte = static_cast<const unsigned char*>(address);
  if (is_declared(address) && !in_place_) return aside_.data() + (byte - object_.shared_begin);
  return const_cast<unsigned char*>(byte);
}

void* SharedMemory::as_seen_by(const SharedMemory& peer, void* address) const {
  return is_declared(address) ? address : peer.dynamic_ + (static_cast<unsigned char*>(address) - dynamic_);
}

}  // namespace saccade::emulator
