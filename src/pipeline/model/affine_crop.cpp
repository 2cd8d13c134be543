#include "pipeline/model/affine_crop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "media/convert.hpp"

namespace saccade {
namespace {

using Point = std::complex<double>;

constexpr double kFaceSide = 112;
constexpr std::array<Point, 5> kFace = {
    {{38.2946, 51.6963}, {73.5318, 51.5014}, {56.0252, 71.7366}, {41.5493, 92.3655}, {70.7299, 92.2041}}};

Point at(const AffineMap& map, double x, double y) {
  return {map.xx * x + map.xy * y + map.x0, map.yx * x + map.yy * y + map.y0};
}

/// Frame pixels that interpolation between LOW and HIGH reads, within SIZE; empty: begin >= end.
struct CropSpan {
  int begin = 0;
  int end = 0;

  static CropSpan of(double low, double high, int size) {
    // Even, where pixels share a chroma sample.
    const int begin = static_cast<int>(std::clamp<double>(std::floor(low), 0, size)) / 2 * 2;
    return {begin, static_cast<int>(std::clamp<double>(std::floor(high) + 2, 0, size))};
  }
};

/// What a crop of WIDTH x HEIGHT pixels touches. A map of NaN touches nothing.
std::optional<Region> touched(const FrameView& frame, const AffineMap& map, int width, int height) {
  const std::array<Point, 4> corners = {at(map, 0, 0), at(map, width - 1, 0), at(map, 0, height - 1),
                                        at(map, width - 1, height - 1)};
  const auto by_x = [](const Point& a, const Point& b) { return a.real() < b.real(); };
  const auto by_y = [](const Point& a, const Point& b) { return a.imag() < b.imag(); };
  const auto [left, right] = std::ranges::minmax(corners, by_x);
  const auto [top, bottom] = std::ranges::minmax(corners, by_y);
  const auto meets = [](double low, double high, int size) { return high > -1 && low < size; };
  if (!meets(left.real(), right.real(), frame.width) || !meets(top.imag(), bottom.imag(), frame.height))
    return std::nullopt;
  const CropSpan across = CropSpan::of(left.real(), right.real(), frame.width);
  const CropSpan down = CropSpan::of(top.imag(), bottom.imag(), frame.height);
  if (across.begin >= across.end || down.begin >= down.end) return std::nullopt;
  return Region{across.begin, down.begin, across.end - across.begin, down.end - down.begin};
}

/// Two neighbouring pixels along an axis, and the weight of the second.
struct CropTap {
  int first = 0;
  double weight = 0;

  /// POSITION may be anywhere; all that is read lies within BEGIN..BEGIN + SIZE.
  CropTap(double position, int begin, int size) {
    position = std::clamp<double>(position, begin - 2, begin + size + 1);
    first = static_cast<int>(std::floor(position));
    weight = position - first;
  }
};

/// Pixels of a region of the frame, in the frame's coordinates, continued beyond it.
class BorderedPixels {
 public:
  BorderedPixels(const RgbView& pixels, const Region& region, CropBorder border)
      : pixels_(pixels), region_(region), border_(border) {}

  void sample(const Point& place, std::uint8_t* rgb) const {
    const CropTap across(place.real(), region_.x, region_.width);
    const CropTap down(place.imag(), region_.y, region_.height);
    for (int c = 0; c < 3; ++c) {
      const auto row = [&](int y) {
        return value(across.first, y, c) * (1 - across.weight) + value(across.first + 1, y, c) * across.weight;
      };
      const double mixed = row(down.first) * (1 - down.weight) + row(down.first + 1) * down.weight;
      rgb[c] = static_cast<std::uint8_t>(mixed + 0.5);
    }
  }

 private:
  double value(int x, int y, int c) const {
    x -= region_.x;
    y -= region_.y;
    const bool is_inside = x >= 0 && y >= 0 && x < region_.width && y < region_.height;
    if (!is_inside && border_ == CropBorder::kBlack) return 0;
    x = std::clamp(x, 0, region_.width - 1);
    y = std::clamp(y, 0, region_.height - 1);
    return pixels_.data[std::ptrdiff_t{y} * pixels_.pitch_bytes + std::ptrdiff_t{3} * x + c];
  }

  RgbView pixels_;
  Region region_;
  CropBorder border_;
};

}  // namespace

AffineMap upright(const OrientedBox& box, float margin, int width, int height) {
  const double grown = 1 + 2 * double{margin};
  const double across = box.width * grown / width;  // frame pixels per pixel of the crop
  const double down = box.height * grown / height;
  const double cosine = std::cos(double{box.angle});
  const double sine = std::sin(double{box.angle});
  AffineMap map{across * cosine, -down * sine, 0, across * sine, down * cosine, 0};
  const Point middle = at(map, (width - 1) / 2.0, (height - 1) / 2.0);
  map.x0 = box.x - 0.5 - middle.real();
  map.y0 = box.y - 0.5 - middle.imag();
  return map;
}

std::optional<AffineMap> aligned_face(std::span<const Keypoint> landmarks, int width, int height) {
  const double scale = std::min(width, height) / kFaceSide;
  const Point offset((width - kFaceSide * scale) / 2, (height - kFaceSide * scale) / 2);
  std::array<Point, 5> found;
  std::array<Point, 5> wanted;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = {landmarks[i].x, landmarks[i].y};
    wanted[i] = kFace[i] * scale + offset;
  }
  const auto mean = [](const std::array<Point, 5>& points) {
    return (points[0] + points[1] + points[2] + points[3] + points[4]) / 5.0;
  };
  const Point from = mean(found);
  const Point to = mean(wanted);
  // In the complex plane a similarity is a factor and an offset.
  Point product = 0;
  double spread = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    product += std::conj(found[i] - from) * (wanted[i] - to);
    spread += std::norm(found[i] - from);
  }
  const Point inverse = spread / product;
  if (!(spread > 0) || !std::isfinite(inverse.real()) || !std::isfinite(inverse.imag())) return std::nullopt;
  const Point origin = from - inverse * to;
  return AffineMap{inverse.real(), -inverse.imag(), origin.real(), inverse.imag(), inverse.real(), origin.imag()};
}

std::optional<FrameView> AffineCrop::cut(const FrameView& frame, const AffineMap& map, int width, int height,
                                         CropBorder border) {
  const std::optional<Region> region = touched(frame, map, width, height);
  if (!region) return std::nullopt;
  const auto bytes = [](int columns, int rows) {
    return std::size_t{3} * static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  };
  pixels_.resize(bytes(region->width, region->height));
  const RgbView source{pixels_.data(), 3 * region->width, region->width, region->height};
  to_rgb(crop(frame, *region), source);
  crop_.resize(bytes(width, height));
  const BorderedPixels pixels(source, *region, border);
  std::uint8_t* to = crop_.data();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x, to += 3) pixels.sample(at(map, x, y), to);
  return view_of(RgbView{crop_.data(), 3 * width, width, height});
}

}  // namespace saccade
