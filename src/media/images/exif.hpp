#pragma once

#include <cstdint>
#include <span>

namespace saccade {

/// The orientation (1 to 8) in an EXIF block that starts at its TIFF header; 1 if there is none.
int exif_orientation(std::span<const std::uint8_t> tiff);

}  // namespace saccade
