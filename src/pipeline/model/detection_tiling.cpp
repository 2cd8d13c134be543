#include "pipeline/model/tilings.hpp"

namespace saccade {
namespace {

class DetectionTiling final : public Tiling {
 public:
  DetectionTiling(const TileOptions& options, std::optional<Region> roi, TileMerger merger)
      : options_(options), roi_(roi), merger_(std::move(merger)) {}

  std::size_t begin(const FrameView& frame) override {
    frame_ = frame;
    area_ = tiled_area(frame, roi_);
    cover(grid_, area_, options_);
    merger_.begin(frame.width, frame.height, area_);
    count_ = grid_.size() + (options_.full_frame && grid_.size() > 1 ? 1 : 0);
    return count_;
  }

  FrameView tile(std::size_t i) const override { return crop(frame_, region(i)); }

  void add(std::size_t i, const Result& predictions) override {
    merger_.add(predictions.detections, region(i));
    if (i + 1 == count_) last_ = &predictions;
  }

  void finish(Result& result) override {
    merger_.finish(result.detections);
    result.classes = last_->classes;
    result.segments = last_->segments;
    result.class_map = last_->class_map;
    result.depth = last_->depth;
    result.image = last_->image;
    shift(result.class_map.place);
    shift(result.depth.place);
  }

 private:
  /// From the area's pixels to the frame's.
  void shift(GridPlace& place) const {
    place.offset_x -= area_.x * place.scale_x;
    place.offset_y -= area_.y * place.scale_y;
    place.seen.x += area_.x;
    place.seen.y += area_.y;
  }

  /// The last one is the whole area.
  Region region(std::size_t i) const { return i < grid_.size() ? grid_[i] : area_; }

  TileOptions options_;
  std::optional<Region> roi_;
  TileMerger merger_;
  TileGrid grid_;
  Region area_;
  FrameView frame_;
  std::size_t count_ = 0;
  const Result* last_ = nullptr;  ///< of the whole area: predictions that cannot be joined are those
};

}  // namespace

std::unique_ptr<Tiling> tile_detections(const TileOptions& options, std::optional<Region> roi, TileMerger merger) {
  return std::make_unique<DetectionTiling>(options, roi, std::move(merger));
}

}  // namespace saccade
