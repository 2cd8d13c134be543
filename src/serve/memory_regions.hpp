#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/memory_region.hpp"

namespace saccade::serve {

// The parameters of a tensor in shared memory.
inline constexpr const char* kRegion = "shared_memory_region";
inline constexpr const char* kRegionBytes = "shared_memory_byte_size";
inline constexpr const char* kRegionOffset = "shared_memory_offset";
/// The extension of the protocol.
inline constexpr const char* kMemoryExtension = "system_shared_memory";
/// Why CUDA shared memory can't be registered.
inline constexpr const char* kNoCudaMemory =
    "CUDA shared memory is not supported by this server: register system shared memory";

/// What a request says about a tensor in shared memory.
struct RegionParameters {
  std::optional<std::string> region;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> offset;
};

/// A tensor of a request in shared memory. It keeps the region, also if that is unregistered.
struct RegionTensor {
  std::shared_ptr<const MemoryRegion> region;
  std::uint64_t offset = 0;  ///< in the region
  std::uint64_t bytes = 0;   ///< they lie within the region
};

/// Memory that counts as long as this lives.
struct ReleaseBytes {
  std::size_t bytes = 0;
  void operator()(std::atomic<std::size_t>* pending) const { *pending -= bytes; }
};
using PendingBytes = std::unique_ptr<std::atomic<std::size_t>, ReleaseBytes>;

/// The regions of shared memory that clients have registered (Triton's system shared memory), by name. Any thread. All
/// functions throw Error (kInvalidArgument) in one sentence for the client.
class MemoryRegions {
 public:
  /// Of objects whose names begin with PREFIX; empty: of none. Copies of inputs, and decoded images, have
  /// MOST_BYTES at a time.
  explicit MemoryRegions(std::string prefix = {}, std::size_t most_bytes = std::size_t{1} << 30);

  /// Whether clients may use any.
  bool is_on() const { return !prefix_.empty(); }
  /// Registers a region.
  void add(RegionInfo info);
  /// Removes the region NAME if it is there, and all if NAME is empty. Requests that use it go on.
  void remove(std::string_view name);
  /// The region NAME, which must be there, or all if NAME is empty.
  std::vector<RegionInfo> list(std::string_view name) const;

  /// The part of a region that PARAMETERS of the tensor TENSOR name; nullopt if they name none.
  std::optional<RegionTensor> find(const RegionParameters& parameters, std::string_view tensor) const;
  /// Room for BYTES of an input; null: there is none now.
  PendingBytes reserve(std::size_t bytes);

 private:
  void check_is_on() const;

  std::string prefix_;
  std::size_t most_bytes_;
  std::atomic<std::size_t> pending_{0};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const MemoryRegion>, std::less<>> regions_;
};

/// Copies ELEMENTS of the output NAME to a client's memory. Throws Error (kInvalidArgument) if they do not fit.
void write_output(const RegionTensor& to, std::string_view name, std::span<const std::byte> elements);

}  // namespace saccade::serve
