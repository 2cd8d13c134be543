#include <algorithm>
#include <functional>

#include "pipeline/model/tilings.hpp"
#include "vision/map_rows.hpp"

namespace saccade {
namespace {

class ClassMapTiling final : public Tiling {
 public:
  ClassMapTiling(const TileOptions& options, std::optional<Region> roi, const Head& head)
      : options_(options), roi_(roi), head_(head) {}

  std::size_t begin(const FrameView& frame) override {
    frame_ = frame;
    area_ = tiled_area(frame, roi_);
    cover(grid_, area_, options_);
    cells_.resize(static_cast<std::size_t>(area_.width) * static_cast<std::size_t>(area_.height));
    return grid_.size();
  }

  FrameView tile(std::size_t i) const override { return crop(frame_, grid_[i]); }

  /// Overwrites the second half of the overlap with the tiles before.
  void add(std::size_t i, const Result& predictions) override {
    const std::size_t columns = grid_.columns().size();
    const int left = share_begin(grid_.columns(), i % columns);
    const int top = share_begin(grid_.rows(), i / columns);
    const Region tile = grid_[i];
    row_.resize(static_cast<std::size_t>(tile.width));
    for (int y = top; y < tile.y + tile.height; ++y) {
      rows_.read(predictions.class_map, y - tile.y, row_);
      std::ranges::copy(row_.begin() + (left - tile.x), row_.end(), cells_.begin() + offset(left, y));
    }
  }

  void finish(Result& result) override {
    result.class_map.cells = cells_;
    result.class_map.background = head_.background.value_or(-1);
    result.class_map.place = {.columns = area_.width,
                              .rows = area_.height,
                              .offset_x = -static_cast<double>(area_.x),
                              .offset_y = -static_cast<double>(area_.y),
                              .seen = area_};
    count_pixels(result.segments);
  }

 private:
  static int share_begin(std::span<const TileSpan> tiles, std::size_t i) {
    return i == 0 ? tiles[0].begin : (tiles[i - 1].end + tiles[i].begin) / 2;
  }

  std::ptrdiff_t offset(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y - area_.y) * area_.width + (x - area_.x);
  }

  void count_pixels(std::vector<Segment>& segments) {
    pixels_.assign(head_.labels.size(), 0);
    for (const std::int32_t cell : cells_)
      if (static_cast<std::size_t>(cell) < pixels_.size()) ++pixels_[static_cast<std::size_t>(cell)];
    segments.clear();
    for (std::size_t c = 0; c < pixels_.size(); ++c)
      if (pixels_[c] > 0) segments.push_back({static_cast<int>(c), head_.labels[c], pixels_[c]});
    std::ranges::stable_sort(segments, std::greater{}, &Segment::pixels);
  }

  TileOptions options_;
  std::optional<Region> roi_;
  const Head& head_;
  TileGrid grid_;
  Region area_;
  FrameView frame_;
  MapRows rows_;
  std::vector<std::int32_t> row_;
  std::vector<std::int32_t> cells_;   ///< of the area
  std::vector<std::int64_t> pixels_;  ///< by class
};

}  // namespace

std::unique_ptr<Tiling> tile_class_map(const TileOptions& options, std::optional<Region> roi, const Head& head) {
  return std::make_unique<ClassMapTiling>(options, roi, head);
}

}  // namespace saccade
