#pragma once

#include <cstddef>
#include <vector>

#include "device/object.hpp"

namespace saccade::emulator {

/// A block's shared memory: what the kernel's object declares, and BYTES more that the launch asked for. The former has
/// one place in the object; of a cluster's blocks, one at a time has it there and the others keep theirs aside.
class SharedMemory {
 public:
  SharedMemory(const saccade_emulator::Object& object, std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// As a block finds it. It does not run.
  void poison();
  /// Whether nothing is written behind the end.
  bool intact() const;

  /// The block runs from now on, or another one does.
  void move_in();
  void move_out();

  unsigned char* dynamic() const { return dynamic_; }
  /// For a thread of this block, while it runs.
  bool holds(const void* address, std::size_t bytes) const;
  /// Where the bytes really lie that a thread of this block has at ADDRESS.
  unsigned char* really(const void* address);
  /// What a thread of PEER, a block of the same kernel, calls what this one calls ADDRESS.
  void* as_seen_by(const SharedMemory& peer, void* address) const;

 private:
  bool is_declared(const void* address) const;

  const saccade_emulator::Object& object_;
  std::size_t bytes_;
  unsigned char* dynamic_;
  std::vector<unsigned char> aside_;
  bool in_place_ = false;
};

}  // namespace saccade::emulator
