#include "pipeline/model/tile_grid.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {
namespace {

int aligned(int at, int align) { return at / align * align; }

/// As in SAHI's get_slice_bboxes(). Each tile begins at or before the end of the one before: no pixel is missed.
void cover_axis(const TileAxis& axis, std::vector<TileSpan>& tiles) {
  tiles.clear();
  int begin = axis.begin;
  while (axis.end - begin >= axis.size + axis.align) {
    if (tiles.size() > TileGrid::kMost) return;
    tiles.push_back({begin, begin + axis.size});
    begin = aligned(begin + axis.size - axis.overlap, axis.align);
  }
  begin = std::max(axis.begin, aligned(std::max(axis.end - axis.size, 0), axis.align));
  tiles.push_back({begin, axis.end});
}

}  // namespace

void TileGrid::cover(const TileAxis& across, const TileAxis& down) {
  SACCADE_ASSERT(across.overlap < across.size - across.align && down.overlap < down.size - down.align);
  cover_axis(across, columns_);
  cover_axis(down, rows_);
  if (size() > kMost)
    fail(ErrorCode::kInvalidArgument,
         "{}x{} pixels need more than {} tiles of {}x{} pixels: use larger tiles, or a smaller overlap",
         across.end - across.begin, down.end - down.begin, kMost, across.size, down.size);
}

Region TileGrid::operator[](std::size_t i) const {
  const TileSpan column = columns_[i % columns_.size()];
  const TileSpan row = rows_[i / columns_.size()];
  return {column.begin, row.begin, column.end - column.begin, row.end - row.begin};
}

}  // namespace saccade
