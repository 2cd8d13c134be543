#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace saccade::serve {

/// What a client registers: a part of a shared memory object.
struct RegionInfo {
  std::string name;          ///< the client's
  std::string key;           ///< the object's, as for shm_open()
  std::uint64_t offset = 0;  ///< in the object
  std::uint64_t bytes = 0;
};

/// A part of a shared memory object of another process. Any thread.
///
/// The object is read and written by system calls, and not mapped: its owner may shrink it at any time, and access to a
/// mapped page that is gone ends the process with SIGBUS. Seals (F_SEAL_SHRINK) would prevent that, but only objects of
/// memfd_create() take them. A copy that the client can't change is needed anyway: elements are checked before they are
/// used. It takes the place of the copies out of and into a socket.
class MemoryRegion {
 public:
  /// Opens the object. Throws Error (kInvalidArgument) if there is none that is a regular file of this user, or it is
  /// smaller than INFO says.
  explicit MemoryRegion(RegionInfo info);
  ~MemoryRegion();
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  const RegionInfo& info() const { return info_; }
  /// Copies what is at OFFSET of the region to TO; both lie within the region. Throws Error (kInvalidArgument) if the
  /// object was removed or has shrunk.
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  /// Copies FROM to OFFSET of the region; as read().
  void write(std::uint64_t offset, std::span<const std::byte> from) const;

 private:
  void check_object() const;
  void check_is_whole() const;

  RegionInfo info_;
  int descriptor_;
};

}  // namespace saccade::serve
