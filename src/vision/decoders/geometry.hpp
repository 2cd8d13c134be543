#pragma once

#include <vector>

#include "vision/attachment.hpp"

// Arithmetic of boxes that families share, as parts of a graph. Boxes, points and sizes are float32 [1, A, K].
namespace saccade {

/// Where a row of a head's output lies on the model's image, in pixels.
struct Anchor {
  float x = 0;
  float y = 0;
  float width = 0;  ///< of the stride, or of the prior box
  float height = 0;
};

/// How rows of a level follow each other, and where its cells' points lie.
struct GridOptions {
  int anchors = 1;       ///< rows per cell
  float offset = 0;      ///< of a cell's point from its corner, in strides
  bool ceiling = false;  ///< levels have a row and a column more where the size is no multiple of the stride
};

/// Columns, or rows, of a level.
std::int64_t cells_along(int size, int stride, bool ceiling);
/// Cells of all levels that are rounded up.
std::int64_t cells_rounded_up(const Card& card, const std::vector<int>& strides);
/// Cells of all levels, level by level, row by row, ANCHORS times each; width and height are the stride.
std::vector<Anchor> grid_anchors(const Card& card, const std::vector<int>& strides, const GridOptions& options = {});

/// [1, A, 2]: the anchors' places, or their sizes times FACTOR.
ValueId anchor_points(Fragment& post, const std::vector<Anchor>& anchors);
ValueId anchor_sizes(Fragment& post, const std::vector<Anchor>& anchors, float factor = 1);

/// x1, y1, x2, y2 of boxes x, y, width, height (centre), or of centres and sizes.
ValueId corners_of(Fragment& post, ValueId boxes);
ValueId corners_of(Fragment& post, ValueId centres, ValueId sizes);
/// x1, y1, x2, y2 of the boxes at DISTANCES (left, top, right, bottom; strides) around the anchors' points.
ValueId corners_around(Fragment& post, ValueId distances, const std::vector<Anchor>& anchors);
/// x, y, x, y normalized to the model's image, to its pixels.
ValueId to_pixels(Attachment& to, ValueId boxes);
/// The last axis in another order.
ValueId reorder(Fragment& post, ValueId boxes, const std::vector<std::int64_t>& order);
/// Points x, y, x, y, ... [1, A, 2K], relative to the anchors' places in their sizes times FACTOR, to pixels.
ValueId points_around(Fragment& post, ValueId points, const std::vector<Anchor>& anchors, float factor = 1);

}  // namespace saccade
