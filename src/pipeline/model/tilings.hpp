#pragma once

#include "pipeline/model/tile_grid.hpp"
#include "pipeline/model/tiling.hpp"
#include "vision/tile_merger.hpp"

// One kind of tiling per kind of prediction.
namespace saccade {

/// The pixels that tiles cover: ROI, cut at the frame's borders, else all of FRAME. Its corner is moved to the chroma
/// sample that contains it. Throws Error if ROI lies outside of FRAME.
Region tiled_area(const FrameView& frame, const std::optional<Region>& roi);

/// Covers AREA with the tiles of OPTIONS. Throws like TileGrid::cover().
void cover(TileGrid& grid, const Region& area, const TileOptions& options);

/// Detections, merged; other predictions of the model are those for the whole area, its last tile.
std::unique_ptr<Tiling> tile_detections(const TileOptions& options, std::optional<Region> roi, TileMerger merger);

/// A class map with one cell per pixel, from the tiles' maps; the border between two is the middle of their overlap.
/// HEAD, whose labels name the classes, outlives it.
std::unique_ptr<Tiling> tile_class_map(const TileOptions& options, std::optional<Region> roi, const Head& head);

/// An image, blended from tiles of the model's input size. CARD is that of a super-resolution model; with one input
/// channel it generates the luma, and chroma is interpolated.
std::unique_ptr<Tiling> tile_image(const Card& card, std::optional<Region> roi);

}  // namespace saccade
