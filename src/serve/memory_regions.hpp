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

#include "saccade/model.hpp"
#include "serve/memory_region.hpp"

namespace saccade::serve {

// The parameters of a tensor in shared memory.
inline constexpr const char* kRegion = "shared_memory_region";
inline constexpr const char* kRegionBytes = "shared_memory_byte_size";
inline constexpr const char* kRegionOffset = "shared_memory_offset";

enum class RegionKind { kSystem, kCuda };
/// The extension of the protocol.
constexpr const char* extension_of(RegionKind kind) {
  return kind == RegionKind::kSystem ? "system_shared_memory" : "cuda_shared_memory";
}

struct MemoryOptions {
  std::string prefix;         ///< of the names of shared memory objects; empty: clients may use none
  bool permits_cuda = false;  ///< clients may use memory of GPUs
  /// Of copies of inputs and outputs, and decoded images, at a time.
  std::size_t most_bytes = std::size_t{1} << 30;
};

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

inline bool overlap(const RegionTensor& a, const RegionTensor& b) {
  return a.region == b.region && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// Memory that counts as long as this lives.
struct ReleaseBytes {
  std::size_t bytes = 0;
  void operator()(std::atomic<std::size_t>* pending) const { *pending -= bytes; }
};
using PendingBytes = std::unique_ptr<std::atomic<std::size_t>, ReleaseBytes>;

/// The regions of shared memory that clients have registered (Triton's system and CUDA shared memory), by name. Any
/// thread. All functions throw Error: (kInvalidArgument) in one sentence for the client, (kDevice) if a GPU fails.
class MemoryRegions {
 public:
  explicit MemoryRegions(MemoryOptions options = {}) : options_(std::move(options)) {}

  /// Whether clients may use memory of that KIND.
  bool permits(RegionKind kind) const;
  /// Registers a region of system shared memory.
  void add(RegionInfo info);
  /// Registers memory of the GPU of INFO. HANDLE: the bytes of its CUipcMemHandle.
  void add(RegionInfo info, std::string_view handle);
  /// Removes the region NAME of that KIND if it is there, and all if NAME is empty. Requests that use it go on.
  void remove(RegionKind kind, std::string_view name);
  /// The region NAME of that KIND, which must be there, or all if NAME is empty.
  std::vector<RegionInfo> list(RegionKind kind, std::string_view name) const;

  /// The part of a region that PARAMETERS of the tensor TENSOR name; nullopt if they name none.
  std::optional<RegionTensor> find(const RegionParameters& parameters, std::string_view tensor) const;
  /// Room for BYTES of an input, an output or an image; null: there is none now. Throws if there never is: HELD bytes
  /// are reserved for the same request.
  PendingBytes reserve(std::size_t bytes, std::size_t held = 0);

 private:
  void check_permits(RegionKind kind) const;
  void check_is_free(const std::string& name) const;
  template <typename Region, typename... Arguments>
  void open(RegionInfo info, const Arguments&... arguments);

  MemoryOptions options_;
  std::atomic<std::size_t> pending_{0};
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const MemoryRegion>, std::less<>> regions_;
};

/// list() for a client, which asks for all of both KINDs before it begins, also where it may use none of the GPU's.
std::vector<RegionInfo> registered(const MemoryRegions& regions, RegionKind kind, std::string_view name);
/// remove() for a client, likewise.
void unregister(MemoryRegions& regions, RegionKind kind, std::string_view name);
/// The device_id of a request. Throws Error (kInvalidArgument).
int gpu_ordinal(std::int64_t device);

/// Copies OUTPUT, which has that NAME, to a client's memory, if it is not there already. Returns its size. Throws
/// Error: (kInvalidArgument) if it does not fit, (kDevice) if a GPU fails.
std::size_t write_output(const RegionTensor& to, std::string_view name, const OutputBuffer& output);

}  // namespace saccade::serve
