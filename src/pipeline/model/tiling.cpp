#include "pipeline/model/tiling.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "pipeline/model/target_tracker.hpp"
#include "pipeline/model/tilings.hpp"
#include "vision/tasks.hpp"

namespace saccade {
namespace {

/// Tiles begin at whole chroma samples of every format.
constexpr int kChroma = 2;

/// Input of a tracker's plan: that of the target, after the frame.
constexpr std::size_t kTargetInput = 1;

std::array<float, 4> corners_of(const Region& region) {
  const auto x = static_cast<float>(region.x);
  const auto y = static_cast<float>(region.y);
  return {x, y, x + static_cast<float>(region.width), y + static_cast<float>(region.height)};
}

bool detects(const Head& head) { return finds_objects(head.decoder->task); }

bool predicts_only(const Card& card, Task task) { return card.heads.size() == 1 && card.task() == task; }

}  // namespace

bool is_tiled(const Card& card, const ModelOptions& options) {
  if (predicts_only(card, Task::kTrack)) {
    if (options.tiles)
      fail(ErrorCode::kInvalidArgument, "a tracker of one object runs on the square around it: run it without --tiles");
    if (card.roi)
      fail(ErrorCode::kInvalidArgument,
           "a tracker of one object has no region of interest (--roi, 'input.roi'): its search follows the object");
    return true;
  }
  if (options.target)
    fail(
        ErrorCode::kInvalidArgument,
        "the model's task is {}: only a tracker of one object takes --target, for which --target NAME:X,Y,W,H names it",
        to_string(card.task()));
  if (predicts_only(card, Task::kUpscale)) {
    if (options.tiles)
      fail(ErrorCode::kInvalidArgument,
           "super-resolution always runs on tiles, of the model's own size: run it without --tiles");
    return true;
  }
  if (!options.tiles || predicts_only(card, Task::kSemantic)) return options.tiles.has_value();
  if (std::ranges::none_of(card.heads, detects))
    fail(ErrorCode::kInvalidArgument, "predictions of the task {} cannot be joined from tiles: run it without --tiles",
         to_string(card.task()));
  if (!options.tiles->full_frame && !std::ranges::all_of(card.heads, detects))
    fail(ErrorCode::kInvalidArgument,
         "some of its predictions cannot be joined from tiles: run it without --no-full-frame");
  return true;
}

std::optional<Region> take_region(Card& card) {
  // The tiles have the input's aspect ratio.
  if (card.task() == Task::kUpscale || card.task() == Task::kTrack) card.resize = ResizeMode::kStretch;
  return std::exchange(card.roi, std::nullopt);
}

std::unique_ptr<Tiling> make_tiling(const ModelOptions& options, const VisionPlan& vision, const ResultReader& reader,
                                    const Execution& execution) {
  if (!is_tiled(vision.card, options)) return nullptr;
  if (vision.card.task() == Task::kTrack) {
    auto tracker = std::make_unique<TargetTracker>(vision, execution.input(kTargetInput));
    if (const auto& target = options.target) tracker->follow(corners_of(*target));
    return tracker;
  }
  if (vision.card.task() == Task::kUpscale) return tile_image(vision.card, vision.roi);
  if (vision.card.task() == Task::kSemantic) return tile_class_map(*options.tiles, vision.roi, vision.card.head());
  return tile_detections(*options.tiles, vision.roi,
                         TileMerger(options.tiles->merge, options.post.agnostic, reader.most_objects()));
}

Region tiled_area(const FrameView& frame, const std::optional<Region>& roi) {
  Region area = place({.width = 1, .height = 1, .roi = roi}, frame.width, frame.height).source;
  area.width += area.x % kChroma;
  area.height += area.y % kChroma;
  area.x -= area.x % kChroma;
  area.y -= area.y % kChroma;
  return area;
}

void cover(TileGrid& grid, const Region& area, const TileOptions& options) {
  const int overlap = static_cast<int>(options.overlap * static_cast<float>(options.size));
  grid.cover({area.x, area.x + area.width, options.size, overlap, kChroma},
             {area.y, area.y + area.height, options.size, overlap, kChroma});
}

}  // namespace saccade
