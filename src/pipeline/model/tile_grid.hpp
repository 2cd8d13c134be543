#pragma once

#include <span>
#include <vector>

#include "saccade/region.hpp"

namespace saccade {

/// Pixels BEGIN to END (exclusive) along one axis.
struct TileSpan {
  int begin = 0;
  int end = 0;
};

/// Where tiles lie along one axis.
struct TileAxis {
  int begin = 0;    ///< of the covered pixels; a multiple of ALIGN
  int end = 0;      ///< exclusive
  int size = 1;     ///< pixels of a tile
  int overlap = 0;  ///< pixels that neighbouring tiles have in common at least; below SIZE - ALIGN
  int align = 1;    ///< tiles begin at multiples of it: 2 for the chroma samples of any format
};

/// Tiles that cover an area, row by row. Those of the last column and row are shifted inside, so that all have the same
/// size, or up to ALIGN - 1 pixels more. An area smaller than a tile is one tile of its size. Reuses its memory.
class TileGrid {
 public:
  /// The most tiles of a frame.
  static constexpr std::size_t kMost = 100'000;

  /// Throws Error (kInvalidArgument) for more than kMost tiles.
  void cover(const TileAxis& across, const TileAxis& down);

  std::span<const TileSpan> columns() const { return columns_; }
  std::span<const TileSpan> rows() const { return rows_; }
  std::size_t size() const { return columns_.size() * rows_.size(); }
  Region operator[](std::size_t i) const;

 private:
  std::vector<TileSpan> columns_;
  std::vector<TileSpan> rows_;
};

}  // namespace saccade
