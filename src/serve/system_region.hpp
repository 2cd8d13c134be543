#pragma once

#include "serve/memory_region.hpp"

namespace saccade::serve {

/// A part of a shared memory object of another process.
///
/// The object is read and written by system calls, and not mapped: its owner may shrink it at any time, and access to a
/// mapped page that is gone ends the process with SIGBUS. Seals (F_SEAL_SHRINK) would prevent that, but only objects of
/// memfd_create() take them. A copy that the client can't change is needed anyway: elements are checked before they are
/// used. It takes the place of the copies out of and into a socket.
class SystemRegion final : public MemoryRegion {
 public:
  /// Opens the object. Throws Error (kInvalidArgument) if there is none that is a regular file of this user, or it is
  /// smaller than INFO says.
  explicit SystemRegion(RegionInfo info);
  ~SystemRegion() override;

  void read(std::uint64_t offset, std::span<std::byte> to) const override;
  void write(std::uint64_t offset, std::span<const std::byte> from) const override;

 private:
  void check_object() const;
  void check_is_whole() const;

  int descriptor_;
};

}  // namespace saccade::serve
