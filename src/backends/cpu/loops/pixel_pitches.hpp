#pragma once

#include <cstdint>

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// Elements from a pixel to the next of a node's images, which are channels-last: input 0 and the output.
struct PixelPitches {
  std::int64_t in;
  std::int64_t out;
};

/// Whether the pixels of input 0, of the output and of the operands of post-ops are evenly spaced and their channels
/// contiguous; for Tactic::supports_strided_operands() of tactics that take PixelPitches and RowOperations.
bool has_pixel_pitches(const NodeContext& context);
/// Of a node whose operands are dense or has_pixel_pitches().
PixelPitches pixel_pitches(const NodeContext& context);

}  // namespace saccade::cpu
