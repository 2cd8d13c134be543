#include "serve/memory_regions.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/memory_budget.hpp"
#include "serve/cuda_region.hpp"
#include "serve/signature.hpp"
#include "serve/system_region.hpp"
#include "tensor/view.hpp"

namespace saccade::serve {
namespace {

constexpr std::size_t kMostRegions = 1024;  // each keeps a file open
constexpr std::size_t kLongestName = 256;

RegionKind kind_of(const RegionInfo& info) { return info.gpu ? RegionKind::kCuda : RegionKind::kSystem; }

void check_info(const RegionInfo& info) {
  if (info.name.find('\0') != std::string::npos)
    fail(ErrorCode::kInvalidArgument, "the region's name holds a zero byte");
  if (info.name.empty() || info.name.size() > kLongestName)
    fail(ErrorCode::kInvalidArgument, "the region's name '{}' has {} bytes, not 1 to {}", brief(info.name),
         info.name.size(), kLongestName);
  if (info.bytes == 0) fail(ErrorCode::kInvalidArgument, "the byte_size of the region '{}' is 0", info.name);
}

void check_key(const RegionInfo& info, const std::string& prefix) {
  const std::string_view object = std::string_view(info.key).substr(info.key.starts_with('/') ? 1 : 0);
  // It would end the name for the system.
  if (object.find('\0') != std::string_view::npos)
    fail(ErrorCode::kInvalidArgument, "the key of the region '{}' holds a zero byte", info.name);
  if (object.find('/') != std::string_view::npos)
    fail(ErrorCode::kInvalidArgument, "the key '{}' is no name of a shared memory object", brief(info.key));
  if (!object.starts_with(prefix))
    fail(ErrorCode::kInvalidArgument,
         "the key '{}' does not begin with '{}': the server uses no other shared memory objects", brief(info.key),
         prefix);
}

}  // namespace

bool MemoryRegions::permits(RegionKind kind) const {
  return kind == RegionKind::kSystem ? !options_.prefix.empty() : options_.permits_cuda;
}

void MemoryRegions::check_permits(RegionKind kind) const {
  if (permits(kind)) return;
  const bool is_cuda = kind == RegionKind::kCuda;
  fail(ErrorCode::kInvalidArgument, "{} can't be used: the server was started without --{}shared-memory",
       is_cuda ? "CUDA shared memory" : "shared memory", is_cuda ? "cuda-" : "");
}

void MemoryRegions::add(RegionInfo info) {
  check_permits(RegionKind::kSystem);
  check_info(info);
  check_key(info, options_.prefix);
  open<SystemRegion>(std::move(info));
}

void MemoryRegions::add(RegionInfo info, std::string_view handle) {
  check_permits(RegionKind::kCuda);
  check_info(info);
  open<CudaRegion>(std::move(info), handle);
}

/// The driver takes its time, also to begin with a GPU: others use the list meanwhile.
template <typename Region, typename... Arguments>
void MemoryRegions::open(RegionInfo info, const Arguments&... arguments) {
  const std::string name = info.name;
  // Before it is opened: refused requests cost no more than that.
  {
    const std::scoped_lock lock(mutex_);
    check_is_free(name);
  }
  auto region = std::make_shared<const Region>(std::move(info), arguments...);
  const std::scoped_lock lock(mutex_);
  check_is_free(name);
  regions_.emplace(name, std::move(region));
}

/// With the lock.
void MemoryRegions::check_is_free(const std::string& name) const {
  if (regions_.contains(name))
    fail(ErrorCode::kInvalidArgument, "the region '{}' is registered: unregister it first", name);
  if (regions_.size() >= kMostRegions)
    fail(ErrorCode::kInvalidArgument, "{} regions are registered, as many as may be: unregister some", kMostRegions);
}

void MemoryRegions::remove(RegionKind kind, std::string_view name) {
  check_permits(kind);
  // They are closed when others can use the list again: a driver may wait for the GPU.
  std::vector<std::shared_ptr<const MemoryRegion>> removed;
  const std::scoped_lock lock(mutex_);
  for (auto at = regions_.begin(); at != regions_.end();) {
    const bool is_meant = kind_of(at->second->info()) == kind && (name.empty() || at->first == name);
    if (is_meant) removed.push_back(std::move(at->second));
    at = is_meant ? regions_.erase(at) : std::next(at);
  }
}

std::vector<RegionInfo> MemoryRegions::list(RegionKind kind, std::string_view name) const {
  check_permits(kind);
  std::vector<RegionInfo> infos;
  const std::scoped_lock lock(mutex_);
  for (const auto& [each, region] : regions_)
    if (kind_of(region->info()) == kind && (name.empty() || each == name)) infos.push_back(region->info());
  if (infos.empty() && !name.empty())
    fail(ErrorCode::kInvalidArgument, "no shared memory region '{}' is registered", brief(name));
  return infos;
}

std::optional<RegionTensor> MemoryRegions::find(const RegionParameters& parameters, std::string_view tensor) const {
  const auto& [name, bytes, offset] = parameters;
  if (!name && !bytes && !offset) return std::nullopt;
  if (!permits(RegionKind::kCuda)) check_permits(RegionKind::kSystem);
  if (!name || !bytes)
    fail(ErrorCode::kInvalidArgument, "'{}' is in shared memory, but {} is missing", tensor,
         name ? kRegionBytes : kRegion);
  RegionTensor found{.region = nullptr, .offset = offset.value_or(0), .bytes = *bytes};
  {
    const std::scoped_lock lock(mutex_);
    if (const auto at = regions_.find(*name); at != regions_.end()) found.region = at->second;
  }
  if (found.region == nullptr)
    fail(ErrorCode::kInvalidArgument, "no shared memory region '{}' is registered", brief(*name));
  const std::uint64_t size = found.region->info().bytes;
  if (found.offset > size || found.bytes > size - found.offset)
    fail(ErrorCode::kInvalidArgument, "'{}' has {} bytes at offset {} of the region '{}', which has {} bytes", tensor,
         found.bytes, found.offset, *name, size);
  return found;
}

PendingBytes MemoryRegions::reserve(std::size_t bytes, std::size_t held) {
  if (bytes + held > options_.most_bytes)
    fail(ErrorCode::kInvalidArgument, "{} are needed, more than the {} that the server has for requests",
         readable_bytes(bytes + held), readable_bytes(options_.most_bytes));
  PendingBytes pending(&pending_, {bytes});
  // The sum does not overflow: no tensor has as many bytes as half an address space.
  if (pending_.fetch_add(bytes) + bytes > options_.most_bytes) pending.reset();
  return pending;
}

std::vector<RegionInfo> registered(const MemoryRegions& regions, RegionKind kind, std::string_view name) {
  if (kind == RegionKind::kCuda && name.empty() && !regions.permits(kind)) return {};
  return regions.list(kind, name);
}

void unregister(MemoryRegions& regions, RegionKind kind, std::string_view name) {
  if (kind == RegionKind::kSystem || regions.permits(kind)) regions.remove(kind, name);
}

int gpu_ordinal(std::int64_t device) {
  if (device < 0 || device > std::numeric_limits<int>::max())
    fail(ErrorCode::kInvalidArgument, "the server has no GPU {}", device);
  return static_cast<int>(device);
}

std::size_t write_output(const RegionTensor& to, std::string_view name, const OutputBuffer& output) {
  const std::size_t bytes = bytes_of(output.dtype, output.shape);
  if (bytes > to.bytes)
    fail(ErrorCode::kInvalidArgument, "the {} of '{}' is {}, and the output has {} bytes", kRegionBytes, name, to.bytes,
         bytes);
  if (!output.on_device) to.region->write(to.offset, {static_cast<const std::byte*>(output.data), bytes});
  return bytes;
}

}  // namespace saccade::serve
