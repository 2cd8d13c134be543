#include "vision/tile_merger.hpp"

#include <algorithm>
#include <numeric>

#include "vision/bounds.hpp"
#include "vision/tile_overlap.hpp"

namespace saccade {
namespace {

/// Runs of masks that a frame has room for from the start, 6 MB of address space each: two per row of 256 objects of a
/// thousand rows.
constexpr std::size_t kRuns = std::size_t{1} << 19;

void shift(Detection& detection, int x, int y) {
  const auto dx = static_cast<float>(x);
  const auto dy = static_cast<float>(y);
  detection.box = {detection.box[0] + dx, detection.box[1] + dy, detection.box[2] + dx, detection.box[3] + dy};
  if (!detection.oriented) return;
  detection.oriented->x += dx;
  detection.oriented->y += dy;
}

/// Whether both are of one kind, so that they can be parts of one object.
bool are_alike(const Detection& a, const Detection& b) {
  return a.oriented.has_value() == b.oriented.has_value() && a.mask.has_value() == b.mask.has_value() &&
         a.keypoints.size() == b.keypoints.size();
}

}  // namespace

void TileMerger::begin(int width, int height, const Region& area) {
  area_ = area;
  width_ = width;
  height_ = height;
  tile_ = 0;
  parts_.clear();
  keypoints_.clear();
  runs_.clear();
}

void TileMerger::add(const std::vector<Detection>& tile, const Region& region) {
  const int x = region.x;
  const int y = region.y;
  ++tile_;
  for (const Detection& detection : tile) {
    Part& part = parts_.emplace_back(Part{detection, tile_, false, keypoints_.size(), runs_.size()});
    shift(part.detection, x, y);
    part.is_cut = is_cut(part.detection.box, region);
    for (const Keypoint& point : detection.keypoints)
      keypoints_.push_back({point.x + static_cast<float>(x), point.y + static_cast<float>(y), point.confidence});
    if (!detection.mask) continue;
    runs_.reserve(kRuns);
    joined_.reserve(kRuns);
    part.run_count = detection.mask->runs.size();
    for (const MaskRun& run : detection.mask->runs) runs_.push_back({run.y + y, run.x1 + x, run.x2 + x});
  }
}

void TileMerger::finish(std::vector<Detection>& merged) {
  merged.clear();
  order_.resize(parts_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  // Ties keep the order of tiles. std::stable_sort would allocate.
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    const float first = parts_[a].detection.confidence;
    const float second = parts_[b].detection.confidence;
    return first != second ? first > second : a < b;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < order_.size() && kept < most_; ++i) {
    if (parts_[order_[i]].is_merged) continue;
    absorb_matches(i);
    order_[kept++] = order_[i];
  }
  for (std::size_t i = 0; i < kept; ++i) hand_over(parts_[order_[i]], merged);
}

/// Whether BOX reaches a border of TILE that is not the area's, within the usual error of a box.
bool TileMerger::is_cut(const std::array<float, 4>& box, const Region& tile) const {
  constexpr float kError = 0.01F;  // of the tile's side
  const auto at_border = [](float low, float high, int begin, int size, int area, int area_size) {
    const float margin = std::max(kError * static_cast<float>(size), 1.0F);
    const auto end = static_cast<float>(begin + size);
    return (begin > area && low <= static_cast<float>(begin) + margin) ||
           (begin + size < area + area_size && high >= end - margin);
  };
  return at_border(box[0], box[2], tile.x, tile.width, area_.x, area_.width) ||
         at_border(box[1], box[3], tile.y, tile.height, area_.y, area_.height);
}

bool TileMerger::match(const Detection& a, const Detection& b) const {
  if (!are_alike(a, b)) return false;
  if (!agnostic_ && (a.class_id != b.class_id || a.class_name != b.class_name)) return false;
  const float common =
      a.oriented ? intersection_over_smaller(*a.oriented, *b.oriented) : intersection_over_smaller(a.box, b.box);
  return common >= kMatch;
}

/// What matches the keeper, as grown so far, is merged with it: the third part of a long object may match only the
/// union of the first two. A tile has each object once, because the model suppresses duplicates itself.
void TileMerger::absorb_matches(std::size_t keeper) {
  Part& kept = parts_[order_[keeper]];
  bool has_grown = false;
  joined_.clear();
  tiles_.assign(1, kept.tile);
  for (std::size_t i = keeper + 1; i < order_.size(); ++i) {
    Part& part = parts_[order_[i]];
    if (part.is_merged || std::ranges::find(tiles_, part.tile) != tiles_.end()) continue;
    if (!match(kept.detection, part.detection)) continue;
    part.is_merged = true;
    tiles_.push_back(part.tile);
    // A whole object has its best box already: less confident ones of other tiles would only enlarge it.
    if (merge_ == TileMerge::kNms || !kept.is_cut) continue;
    absorb(kept, part);
    has_grown = true;
  }
  if (has_grown && kept.detection.mask) unite_runs(kept);
}

void TileMerger::absorb(Part& keeper, const Part& part) {
  keeper.is_cut = part.is_cut;
  std::array<float, 4>& box = keeper.detection.box;
  const std::array<float, 4>& other = part.detection.box;
  box = {std::min(box[0], other[0]), std::min(box[1], other[1]), std::max(box[2], other[2]),
         std::max(box[3], other[3])};
  if (keeper.detection.oriented)
    keeper.detection.oriented = enclosing(*keeper.detection.oriented, *part.detection.oriented);
  // A joint beyond the border of one tile is seen by the other.
  for (std::size_t k = 0; k < keeper.detection.keypoints.size(); ++k) {
    Keypoint& point = keypoints_[keeper.keypoints + k];
    const Keypoint& same = keypoints_[part.keypoints + k];
    if (same.confidence > point.confidence) point = same;
  }
  const auto runs = runs_.begin() + static_cast<std::ptrdiff_t>(part.runs);
  joined_.insert(joined_.end(), runs, runs + static_cast<std::ptrdiff_t>(part.run_count));
}

/// Replaces the keeper's runs by the union with joined_.
void TileMerger::unite_runs(Part& keeper) {
  const auto own = runs_.begin() + static_cast<std::ptrdiff_t>(keeper.runs);
  joined_.insert(joined_.end(), own, own + static_cast<std::ptrdiff_t>(keeper.run_count));
  std::ranges::sort(joined_, [](const MaskRun& a, const MaskRun& b) { return a.y != b.y ? a.y < b.y : a.x1 < b.x1; });
  keeper.runs = runs_.size();
  std::int64_t area = 0;
  for (const MaskRun& run : joined_) {
    const bool extends = runs_.size() > keeper.runs && runs_.back().y == run.y && run.x1 <= runs_.back().x2;
    if (!extends) runs_.push_back({run.y, run.x1, run.x1});
    MaskRun& last = runs_.back();
    area += std::max(run.x2 - last.x2, 0);
    last.x2 = std::max(last.x2, run.x2);
  }
  keeper.run_count = runs_.size() - keeper.runs;
  keeper.detection.mask->area = area;
}

void TileMerger::hand_over(Part& part, std::vector<Detection>& merged) const {
  Detection& detection = part.detection;
  detection.keypoints = {keypoints_.data() + part.keypoints, detection.keypoints.size()};
  if (detection.mask) detection.mask->runs = {runs_.data() + part.runs, part.run_count};
  if (detection.oriented) detection.box = bounds_of(*detection.oriented, width_, height_);
  merged.push_back(detection);
}

}  // namespace saccade
