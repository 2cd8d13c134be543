#pragma once

#include <array>

#include "ops/vision/mask_tracer.hpp"
#include "ops/vision/pixels.hpp"

// The position on the frame of grids over a model's input image, and over boxes: shared by saccade.TraceMasks and the
// reader of results.
namespace saccade {

/// The position of a grid of COLUMNS x ROWS over SPEC's image on the frame that PLACEMENT put there.
GridPlace grid_place(const PreprocessSpec& spec, const Placement& placement, std::int64_t columns, std::int64_t rows);

/// Where an object's pixels may be.
enum class MaskWithin : std::uint8_t {
  kImage,    ///< anywhere on the model's input image, which the grid covers
  kBoxes,    ///< the same, but within the object's box
  kRegions,  ///< on the object's box, which the grid covers: probabilities, not logits
};
inline constexpr std::array<std::string_view, 3> kMaskWithinNames = {"image", "boxes", "regions"};
/// That of saccade.TraceMasks with ATTRIBUTES. Throws Error (kInvalidFile) for another name, or none.
MaskWithin mask_within(const Attributes& attributes);

/// The arguments of MaskTracer::trace() for an object's grid.
struct MaskLook {
  GridPlace place;
  PixelExtent within;
  float threshold = 0;
};
/// WHOLE is the grid_place() of the object's grid. BOX (x1, y1, x2, y2 in source pixels) is ignored if masks may be
/// anywhere; one with a NaN edge contains no pixels.
MaskLook mask_look(MaskWithin within, const GridPlace& whole, const std::array<float, 4>& box);

}  // namespace saccade
