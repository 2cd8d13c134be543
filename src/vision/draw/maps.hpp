#pragma once

#include <vector>

#include "draw/sheet.hpp"
#include "vision/map_rows.hpp"

namespace saccade {

/// The depths that the two ends of a colour map stand for.
struct DepthRange {
  float nearest = 0;
  float farthest = 0;
};

/// Paints class maps and depth maps. Keeps its memory between images.
class MapPainter {
 public:
  /// Each class in its colour, through which the image shows.
  void draw(const Sheet& sheet, const ClassMap& map, const Result& result);
  /// MAP in colours from near (light) to far (dark), on RECT of the image; gives what the colours' ends stand for.
  /// These are percentiles, so that a few pixels that are far out don't take all colours; from frame to frame of a
  /// video they follow slowly, so that the colours do not flicker. Where the model did not look, the image stays.
  DepthRange draw(const Sheet& sheet, const DepthMap& map, const Result& result, const Rect& rect);

 private:
  void place_columns(int shown, int count);
  DepthRange range_of(const DepthMap& map, bool goes_on);

  MapRows class_rows_;
  MapRows depth_rows_;
  std::vector<std::size_t> columns_;  ///< the source's, of each of the image's
  std::vector<std::int32_t> ids_;     ///< of a row of the source
  std::vector<float> depths_;
  std::vector<float> sample_;
  bool has_range_ = false;
  float low_ = 0;
  float high_ = 0;
};

}  // namespace saccade
