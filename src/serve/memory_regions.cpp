#include "serve/memory_regions.hpp"

#include <utility>

#include "base/error.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {
namespace {

constexpr std::size_t kMostRegions = 1024;  // each keeps a file open
constexpr std::size_t kLongestName = 256;

void check_name(const RegionInfo& info) {
  if (info.name.find('\0') != std::string::npos)
    fail(ErrorCode::kInvalidArgument, "the region's name holds a zero byte");
  if (info.name.empty() || info.name.size() > kLongestName)
    fail(ErrorCode::kInvalidArgument, "the region's name '{}' has {} bytes, not 1 to {}", brief(info.name),
         info.name.size(), kLongestName);
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

MemoryRegions::MemoryRegions(std::string prefix, std::size_t most_bytes)
    : prefix_(std::move(prefix)), most_bytes_(most_bytes) {}

void MemoryRegions::check_is_on() const {
  if (!is_on())
    fail(ErrorCode::kInvalidArgument, "shared memory can't be used: the server was started without --shared-memory");
}

void MemoryRegions::add(RegionInfo info) {
  check_is_on();
  check_name(info);
  check_key(info, prefix_);
  const std::scoped_lock lock(mutex_);
  // Before the object is opened: refused requests cost no more than that.
  if (regions_.contains(info.name))
    fail(ErrorCode::kInvalidArgument, "the region '{}' is registered: unregister it first", info.name);
  if (regions_.size() >= kMostRegions)
    fail(ErrorCode::kInvalidArgument, "{} regions are registered, as many as may be: unregister some", kMostRegions);
  std::string name = info.name;
  regions_.emplace(std::move(name), std::make_shared<const MemoryRegion>(std::move(info)));
}

void MemoryRegions::remove(std::string_view name) {
  check_is_on();
  const std::scoped_lock lock(mutex_);
  if (name.empty()) regions_.clear();
  if (const auto found = regions_.find(name); found != regions_.end()) regions_.erase(found);
}

std::vector<RegionInfo> MemoryRegions::list(std::string_view name) const {
  check_is_on();
  std::vector<RegionInfo> infos;
  const std::scoped_lock lock(mutex_);
  for (const auto& [each, region] : regions_)
    if (name.empty() || each == name) infos.push_back(region->info());
  if (infos.empty() && !name.empty())
    fail(ErrorCode::kInvalidArgument, "no shared memory region '{}' is registered", brief(name));
  return infos;
}

std::optional<RegionTensor> MemoryRegions::find(const RegionParameters& parameters, std::string_view tensor) const {
  const auto& [name, bytes, offset] = parameters;
  if (!name && !bytes && !offset) return std::nullopt;
  check_is_on();
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

PendingBytes MemoryRegions::reserve(std::size_t bytes) {
  PendingBytes pending(&pending_, {bytes});
  // The sum does not overflow: no tensor has as many bytes as half an address space.
  if (pending_.fetch_add(bytes) + bytes > most_bytes_) pending.reset();
  return pending;
}

void write_output(const RegionTensor& to, std::string_view name, std::span<const std::byte> elements) {
  if (elements.size() > to.bytes)
    fail(ErrorCode::kInvalidArgument, "the {} of '{}' is {}, and the output has {} bytes", kRegionBytes, name, to.bytes,
         elements.size());
  to.region->write(to.offset, elements);
}

}  // namespace saccade::serve
