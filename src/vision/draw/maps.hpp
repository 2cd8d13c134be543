#pragma once

#include <vector>

#include "draw/sheet.hpp"
#include "vision/map_rows.hpp"

namespace saccade {

/// The depths at the ends of a colour map.
struct DepthRange {
  float nearest = 0;
  float farthest = 0;
};

/// Paints class maps and depth maps. Reuses its memory.
class MapPainter {
 public:
  /// Each class in its colour, translucent. The background stays clear.
  void draw(const Sheet& sheet, const ClassMap& map, const Result& result);
  /// MAP in colours from near (light) to far (dark), on RECT of the image. Returns the range of the colours:
  /// percentiles, so that outliers do not dominate, which adapt slowly over the frames of a video, so that colours do
  /// not flicker. Pixels outside of the model's view keep the image.
  DepthRange draw(const Sheet& sheet, const DepthMap& map, const Result& result, const Rect& rect);

 private:
  void place_columns(int shown, int count);
  DepthRange range_of(const DepthMap& map, bool goes_on);

  MapRows class_rows_;
  MapRows depth_rows_;
  std::vector<std::size_t> columns_;  ///< source column per image column
  std::vector<std::int32_t> ids_;     ///< of a row of the source
  std::vector<float> depths_;
  std::vector<float> sample_;
  bool has_range_ = false;
  float low_ = 0;
  float high_ = 0;
};

}  // namespace saccade
