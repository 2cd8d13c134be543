#pragma once

#include <array>

#include "ops/vision/mask_tracer.hpp"
#include "ops/vision/pixels.hpp"

// Where grids over a model's picture, and over boxes, lie on the frame: what saccade.TraceMasks and the reader of a
// frame's answers share.
namespace saccade {

/// How a grid of COLUMNS x ROWS over SPEC's picture lies on the frame that PLACEMENT put there.
GridPlace grid_place(const PreprocessSpec& spec, const Placement& placement, std::int64_t columns, std::int64_t rows);

/// Where an object's pixels may be.
enum class MaskWithin : std::uint8_t {
  kPicture,  ///< anywhere on the model's picture, on which the grid lies
  kBoxes,    ///< the same, but inside of the object's box
  kRegions,  ///< on the object's box, on which the grid lies: probabilities, not logits
};
inline constexpr std::array<std::string_view, 3> kMaskWithinNames = {"picture", "boxes", "regions"};

/// What MaskTracer::trace() is told about an object's grid.
struct MaskLook {
  GridPlace place;
  PixelExtent within;
  float threshold = 0;
};
/// WHOLE is the grid_place() of the object's grid. BOX (x1, y1, x2, y2 in source pixels) is not looked at where masks
/// may be anywhere; one that has an edge that is no number holds no pixels.
MaskLook mask_look(MaskWithin within, const GridPlace& whole, const std::array<float, 4>& box);

}  // namespace saccade
