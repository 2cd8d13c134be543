#pragma once

#include <cstddef>
#include <span>

#include "graph/attributes.hpp"
#include "saccade/tensor.hpp"

// Shared by the kernels of saccade.BoxMasks.
namespace saccade {

/// Cells of an axis of a grid: begin (inclusive) to end (exclusive).
struct CellRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct BoxCells {
  CellRange across;
  CellRange down;
};

/// The cells of PROTOTYPES [1, K, h, w] that bilinear sampling in BOX (x1, y1, x2, y2 in source pixels) needs: those
/// that its pixels cover, plus one on each side. A low edge that is NaN is the grid's border; none if a high edge is
/// NaN. ATTRIBUTES and GEOMETRY are the operator's.
BoxCells box_cells(const Shape& prototypes, const Attributes& attributes, std::span<const float> geometry,
                   const float* box);

}  // namespace saccade
