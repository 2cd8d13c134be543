#pragma once

#include <vector>

#include "vision/attachment.hpp"

// Box arithmetic as graph fragments. Boxes, points and sizes are float32 [1, A, K].
namespace saccade {

/// The cell or prior box of a row, in pixels of the model's image.
struct Anchor {
  float x = 0;
  float y = 0;
  float width = 0;  ///< of the stride, or of the prior box
  float height = 0;
};

/// The order of a level's rows, and the points of its cells.
struct GridOptions {
  int anchors = 1;       ///< rows per cell
  float offset = 0;      ///< of a cell's point from its corner, in strides
  bool ceiling = false;  ///< a partial row and column of cells, if the stride does not divide the size
};

/// Columns, or rows, of a level.
std::int64_t cells_along(int size, int stride, bool ceiling);
/// Cells of all levels that are rounded up.
std::int64_t cells_rounded_up(const Card& card, const std::vector<int>& strides);
/// Cells of all levels, level by level, row by row, ANCHORS times each; width and height are the stride.
std::vector<Anchor> grid_anchors(const Card& card, const std::vector<int>& strides, const GridOptions& options = {});

/// [1, A, 2]: the anchors' points, or their sizes times FACTOR.
ValueId anchor_points(Fragment& post, const std::vector<Anchor>& anchors);
ValueId anchor_sizes(Fragment& post, const std::vector<Anchor>& anchors, float factor = 1);

/// x1, y1, x2, y2 of boxes x, y, width, height (centre), or of centres and sizes.
ValueId corners_of(Fragment& post, ValueId boxes);
ValueId corners_of(Fragment& post, ValueId centres, ValueId sizes);
/// x1, y1, x2, y2 of the boxes at DISTANCES (left, top, right, bottom; strides) around the anchors' points.
ValueId corners_around(Fragment& post, ValueId distances, const std::vector<Anchor>& anchors);
/// Converts normalized x, y, x, y to pixels of the model's image.
ValueId to_pixels(Attachment& to, ValueId boxes);
/// Permutes the last axis.
ValueId reorder(Fragment& post, ValueId boxes, const std::vector<std::int64_t>& order);
/// Converts points x, y, x, y, ... [1, A, 2K], relative to the anchors' points in units of their sizes times FACTOR, to
/// pixels.
ValueId points_around(Fragment& post, ValueId points, const std::vector<Anchor>& anchors, float factor = 1);

}  // namespace saccade
