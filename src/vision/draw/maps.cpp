#include "draw/maps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace saccade {
namespace {

constexpr int kClassOpacity = 115;
constexpr int kFaintOpacity = 70;            // under masks, which have their own colours
constexpr std::size_t kMaxSample = 1 << 15;  // cells for percentiles

/// The source pixel shown at image pixel AT, where SHOWN image pixels show COUNT source pixels.
int source_of(int at, int shown, int count) {
  return static_cast<int>((static_cast<std::int64_t>(at) * 2 + 1) * count / (std::int64_t{2} * shown));
}

/// The cells [FIRST, LAST) inside the frame.
struct Cells {
  int first;
  int last;
};

Cells in_frame(double scale, double offset, int start, int length, int cells) {
  const auto limit = [cells](double at) { return static_cast<int>(std::clamp(at, 0.0, static_cast<double>(cells))); };
  return {limit(std::floor(start * scale + offset)), limit(std::ceil((start + length) * scale + offset))};
}

/// log2 of a finite positive number to within 0.01, which is enough for colours and much faster: the exponent, plus a
/// parabola through the ends and the middle of the mantissa.
float rough_log2(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
  const auto mantissa = std::bit_cast<float>((bits & 0x007fffffU) | 0x3f800000U);
  return exponent + (2.0F - mantissa / 3) * mantissa - 5.0F / 3;
}

/// Nearness of a depth, 0 to 1. Metres are on a logarithmic scale: otherwise a street to the horizon has one colour.
class DepthScale {
 public:
  DepthScale(DepthKind kind, const DepthRange& range)
      : is_ratio_(kind == DepthKind::kMetric && range.nearest > 0), far_(of(range.farthest)) {
    const float span = of(range.nearest) - far_;
    scale_ = span != 0 ? 1 / span : 0;
  }
  float nearness(float depth) const { return (of(depth) - far_) * scale_; }

 private:
  float of(float depth) const { return is_ratio_ ? rough_log2(std::clamp(depth, 1e-6F, 1e30F)) : depth; }

  bool is_ratio_;
  float far_;
  float scale_ = 0;
};

float percentile(std::vector<float>& values, double fraction) {
  const auto at = values.begin() + std::lround(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void MapPainter::place_columns(int shown, int count) {
  columns_.resize(static_cast<std::size_t>(shown));
  for (int x = 0; x < shown; ++x)
    columns_[static_cast<std::size_t>(x)] = static_cast<std::size_t>(source_of(x, shown, count));
}

void MapPainter::draw(const Sheet& sheet, const ClassMap& map, const Result& result) {
  if (result.width <= 0 || result.height <= 0) return;
  const RgbView& to = sheet.image;
  const bool has_masks =
      std::ranges::any_of(result.detections, [](const Detection& one) { return one.mask.has_value(); });
  const int opacity = has_masks ? kFaintOpacity : kClassOpacity;
  place_columns(to.width, result.width);
  ids_.resize(static_cast<std::size_t>(result.width));
  for (int y = 0; y < to.height; ++y) {
    class_rows_.read(map, source_of(y, to.height, result.height), ids_);
    std::uint8_t* pixel = pixel_at(to, 0, y);
    for (std::size_t column : columns_) {
      const int id = ids_[column];
      if (id >= 0 && id != map.background) blend(pixel, class_color(id), opacity);
      pixel += 3;
    }
  }
}

DepthRange MapPainter::range_of(const DepthMap& map, bool goes_on) {
  constexpr double kLow = 0.02;
  constexpr double kHigh = 0.98;
  constexpr float kFollow = 0.1F;  // weight of a frame in the range
  const GridPlace& place = map.place;
  const Cells across = in_frame(place.scale_x, place.offset_x, place.seen.x, place.seen.width, place.columns);
  const Cells down = in_frame(place.scale_y, place.offset_y, place.seen.y, place.seen.height, place.rows);
  const auto cells = static_cast<std::size_t>(std::max(0, across.last - across.first)) *
                     static_cast<std::size_t>(std::max(0, down.last - down.first));
  const int step = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(cells) / kMaxSample)));
  sample_.clear();
  for (int row = down.first; row < down.last; row += step)
    for (int column = across.first; column < across.last; column += step) {
      const float depth = map.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(place.columns) +
                                    static_cast<std::size_t>(column)];
      if (std::isfinite(depth)) sample_.push_back(depth);
    }
  if (!sample_.empty()) {
    const float low = percentile(sample_, kLow);
    const float high = percentile(sample_, kHigh);
    const float part = goes_on && has_range_ ? kFollow : 1;
    low_ = part * low + (1 - part) * low_;
    high_ = part * high + (1 - part) * high_;
    has_range_ = true;
  }
  return map.kind == DepthKind::kInverse ? DepthRange{high_, low_} : DepthRange{low_, high_};
}

DepthRange MapPainter::draw(const Sheet& sheet, const DepthMap& map, const Result& result, const Rect& rect) {
  if (!is_whole(map.place, map.cells.size()) || result.width <= 0 || result.height <= 0) return {};
  const DepthRange range = range_of(map, result.name.empty());
  const DepthScale scale(map.kind, range);
  place_columns(rect.width(), result.width);
  depths_.resize(static_cast<std::size_t>(result.width));
  for (int y = 0; y < rect.height(); ++y) {
    depth_rows_.read(map, source_of(y, rect.height(), result.height), depths_);
    std::uint8_t* pixel = pixel_at(sheet.image, rect.left, rect.top + y);
    for (std::size_t column : columns_) {
      const float depth = depths_[column];
      if (!std::isnan(depth)) blend(pixel, inferno(scale.nearness(depth)), 255);
      pixel += 3;
    }
  }
  return range;
}

}  // namespace saccade
