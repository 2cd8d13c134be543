#include "cuda/driver/weights.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/driver/device.hpp"

namespace saccade::cuda {
namespace {

// Smaller arrays are not worth a comparison.
constexpr std::size_t kShared = std::size_t{64} << 10;

/// A hash of some of the bytes: it tells arrays of the same size apart, of which a model has many.
std::uint64_t sample_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kSamples = 512;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + (bytes.size() - sizeof word) / kSamples * i, sizeof word);
    hash = (hash ^ word) * 0x100000001b3;
  }
  return hash;
}

bool holds(const DeviceMemory& memory, std::span<const std::byte> bytes) {
  std::vector<std::byte> there(bytes.size());
  const Stream stream = make_stream();
  SACCADE_CUDA(cuMemcpyDtoHAsync_v2(there.data(), memory.address(), there.size(), stream.get()));
  SACCADE_CUDA(cuStreamSynchronize(stream.get()));
  return std::ranges::equal(there, bytes);
}

struct Key {
  const Device* device = nullptr;
  std::size_t bytes = 0;
  std::uint64_t sample = 0;
  auto operator<=>(const Key&) const = default;
};

}  // namespace

Weights upload_weights(Device& device, std::span<const std::byte> bytes) {
  if (bytes.size() < kShared) return std::make_shared<const DeviceMemory>(upload(bytes));
  static std::mutex mutex;
  static std::multimap<Key, std::weak_ptr<const DeviceMemory>> known;
  const Key key{&device, bytes.size(), sample_of(bytes)};
  const std::scoped_lock lock(mutex);
  std::erase_if(known, [](const auto& each) { return each.second.expired(); });
  const auto [first, last] = known.equal_range(key);
  for (auto each = first; each != last; ++each)
    if (const Weights there = each->second.lock(); there != nullptr && holds(*there, bytes)) return there;
  auto made = std::make_shared<const DeviceMemory>(upload(bytes));
  known.emplace(key, made);
  return made;
}

}  // namespace saccade::cuda
