#pragma once

#include <cstddef>
#include <vector>

#include "device/object.hpp"

namespace saccade::emulator {

/// A block's shared memory: the object's static part, and BYTES of dynamic shared memory. The static part has one
/// address in the object; of a cluster's blocks one at a time is mapped there, and the others keep copies.
class SharedMemory {
 public:
  SharedMemory(const saccade_emulator::Object& object, std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// Initial contents, while the block does not run.
  void poison();
  /// Whether nothing was written beyond the end.
  bool intact() const;

  /// Maps the block's static part into the object, or another block's.
  void move_in();
  void move_out();

  unsigned char* dynamic() const { return dynamic_; }
  /// Called by a thread of this block while it runs.
  bool holds(const void* address, std::size_t bytes) const;
  /// Current location of the memory that a thread of this block has at ADDRESS.
  unsigned char* really(const void* address);
  /// Address in PEER, a block of the same kernel, that corresponds to ADDRESS in this one.
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
