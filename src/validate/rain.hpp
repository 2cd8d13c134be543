#pragma once

#include <cstdint>

#include "tensor/frame.hpp"

namespace saccade {

/// Draws rain over IMAGE: mist takes a fifth of the contrast, and bright streaks, one every 600 pixels, a twelfth of
/// the height long, fall at a slant that depends on the image's SEED. The same seed gives the same rain.
void rain(const RgbView& image, std::uint64_t seed);

}  // namespace saccade
