#include "images/exif.hpp"

#include <cstddef>

namespace saccade {
namespace {

/// Reads a TIFF block in its own byte order; beyond its end everything is 0.
class Tiff {
 public:
  explicit Tiff(std::span<const std::uint8_t> bytes) : bytes_(bytes), big_(at(0) == 'M') {}

  std::uint32_t u16(std::size_t offset) const {
    return big_ ? at(offset) << 8 | at(offset + 1) : at(offset + 1) << 8 | at(offset);
  }
  std::uint32_t u32(std::size_t offset) const {
    return big_ ? u16(offset) << 16 | u16(offset + 2) : u16(offset + 2) << 16 | u16(offset);
  }

 private:
  std::uint32_t at(std::size_t offset) const { return offset < bytes_.size() ? bytes_[offset] : 0; }

  std::span<const std::uint8_t> bytes_;
  bool big_;
};

}  // namespace

int exif_orientation(std::span<const std::uint8_t> tiff) {
  constexpr std::uint32_t kOrientationTag = 0x0112;
  constexpr std::size_t kEntryBytes = 12;
  const Tiff block(tiff);
  if (block.u16(2) != 42) return 1;
  const std::size_t directory = block.u32(4);
  const std::size_t entries = block.u16(directory);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (block.u16(entry) != kOrientationTag) continue;
    const auto value = static_cast<int>(block.u16(entry + 8));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

}  // namespace saccade
