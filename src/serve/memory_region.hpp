#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace saccade::serve {

/// What a client registers.
struct RegionInfo {
  std::string name;          ///< the client's
  std::string key;           ///< of system shared memory: the object's name, as for shm_open()
  std::uint64_t offset = 0;  ///< of system shared memory: in the object
  std::uint64_t bytes = 0;
  std::optional<int> gpu = std::nullopt;  ///< whose memory it is, an ordinal; nullopt: system shared memory
};

/// Memory of another process. Any thread.
class MemoryRegion {
 public:
  explicit MemoryRegion(RegionInfo info) : info_(std::move(info)) {}
  virtual ~MemoryRegion() = default;
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  const RegionInfo& info() const { return info_; }
  /// On the GPU of info(), whose kernels can read and write it; null: it is system shared memory.
  virtual std::byte* on_device() const { return nullptr; }
  /// Copies what is at OFFSET of the region to TO; both lie within the region. Throws Error: (kInvalidArgument) if the
  /// memory is no longer there, (kDevice) if a GPU can't read it.
  virtual void read(std::uint64_t offset, std::span<std::byte> to) const = 0;
  /// Copies FROM to OFFSET of the region; as read().
  virtual void write(std::uint64_t offset, std::span<const std::byte> from) const = 0;

 private:
  RegionInfo info_;
};

}  // namespace saccade::serve
