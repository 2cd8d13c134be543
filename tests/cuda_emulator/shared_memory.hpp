#pragma once

#include <cstddef>
#include <memory>

#include "device/object.hpp"

namespace saccade::emulator {

/// A block's shared memory: what the kernel's object declares, and BYTES more that the launch asked for.
class SharedMemory {
 public:
  SharedMemory(const saccade_emulator::Object& object, std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  unsigned char* dynamic() const { return dynamic_; }
  /// As a block finds it.
  void poison();
  /// Whether nothing is written behind the end.
  bool intact() const;
  bool holds(const void* address, std::size_t bytes) const;

 private:
  const saccade_emulator::Object& object_;
  std::size_t bytes_;
  unsigned char* dynamic_;
};

}  // namespace saccade::emulator
