#include "vision/crop_warp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "ops/vision/pixels.hpp"

namespace saccade {
namespace {

using FacePoint = std::complex<double>;

/// The landmarks of ArcFace's aligned faces, of 112x112 pixels.
constexpr double kFaceSide = 112;
constexpr std::array<std::array<double, 2>, 5> kFaceTemplate = {
    {{38.2946, 51.6963}, {73.5318, 51.5014}, {56.0252, 71.7366}, {41.5493, 92.3655}, {70.7299, 92.2041}}};

/// Reads single pixels of a frame as RGB. Every pixel has the chroma of its sample.
class CropPixels {
 public:
  explicit CropPixels(const FrameView& frame)
      : width_(frame.width),
        height_(frame.height),
        components_(components_of(frame)),
        yuv_(yuv_matrix(frame.matrix, frame.range)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(components_.count()); ++i)
      shifts_[i] = {std::countr_zero(static_cast<unsigned>(components_.parts[i].across)),
                    std::countr_zero(static_cast<unsigned>(components_.parts[i].down))};
  }

  /// Black outside of the frame. X and Y are integers.
  std::array<float, 3> at(double x, double y) const {
    if (!(x >= 0 && y >= 0 && x < width_ && y < height_)) return {};
    const std::array<int, 3> rgb = rgb_at(static_cast<int>(x), static_cast<int>(y));
    return {static_cast<float>(rgb[0]), static_cast<float>(rgb[1]), static_cast<float>(rgb[2])};
  }

 private:
  /// Division by a component's subsampling, which is 1 or 2, without a division.
  struct Shifts {
    int across = 0;
    int down = 0;
  };

  std::array<int, 3> rgb_at(int x, int y) const {
    if (components_.mosaic) return components_.mosaic->rgb(x, y);
    std::array<int, 3> samples{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(components_.count()); ++i) {
      const Component& part = components_.parts[i];
      samples[i] = part.data[static_cast<std::ptrdiff_t>(y >> shifts_[i].down) * part.pitch +
                             static_cast<std::ptrdiff_t>(x >> shifts_[i].across) * part.step];
    }
    if (components_.model == ColorModel::kRgb) return samples;
    if (components_.model == ColorModel::kGray) return {samples[0], samples[0], samples[0]};
    const int luma = yuv_.luma * (samples[0] - yuv_.black);
    const int u = samples[1] - 128;
    const int v = samples[2] - 128;
    return {clamp8(luma + yuv_.red_v * v), clamp8(luma + yuv_.green_u * u + yuv_.green_v * v),
            clamp8(luma + yuv_.blue_u * u)};
  }

  int width_;
  int height_;
  Components components_;
  std::array<Shifts, 3> shifts_{};
  YuvMatrix yuv_;
};

/// The pixel at (X, Y), between the centres of four.
void blend_pixel(const CropPixels& pixels, double x, double y, std::uint8_t* rgb) {
  const double column = std::floor(x);
  const double row = std::floor(y);
  const auto right = static_cast<float>(x - column);
  const auto lower = static_cast<float>(y - row);
  const auto blend = [](float first, float second, float weight) { return first + (second - first) * weight; };
  const std::array<std::array<float, 3>, 4> near = {pixels.at(column, row), pixels.at(column + 1, row),
                                                    pixels.at(column, row + 1), pixels.at(column + 1, row + 1)};
  for (std::size_t c = 0; c < 3; ++c) {
    const float upper = blend(near[0][c], near[1][c], right);
    rgb[c] = static_cast<std::uint8_t>(std::lrint(blend(upper, blend(near[2][c], near[3][c], right), lower)));
  }
}

}  // namespace

std::optional<CropWarp> oriented_crop(const OrientedBox& box, float margin, int most) {
  const double grown = 1 + 2 * double{margin};
  const double width = grown * box.width;
  const double height = grown * box.height;
  if (!(width >= 1 && height >= 1) || !std::isfinite(double{box.x} + box.y + box.angle + width + height)) return {};
  const auto side = [&](double length) { return static_cast<int>(std::min<double>(std::ceil(length), most)); };
  CropWarp crop{.width = side(width), .height = side(height)};
  const double cosine = std::cos(double{box.angle});
  const double sine = std::sin(double{box.angle});
  // From the centre of the first pixel to the box's centre, and half a pixel from its corner to that centre.
  const double left = (1 - crop.width) / 2.0;
  const double top = (1 - crop.height) / 2.0;
  crop.map = {cosine, -sine,  box.x - 0.5 + cosine * left - sine * top,
              sine,   cosine, box.y - 0.5 + sine * left + cosine * top};
  return crop;
}

std::optional<CropWarp> face_crop(std::span<const Keypoint> landmarks, int width, int height) {
  if (landmarks.size() != kFaceTemplate.size()) return {};
  std::array<FacePoint, kFaceTemplate.size()> from;
  std::array<FacePoint, kFaceTemplate.size()> to;
  FacePoint from_mean;
  FacePoint to_mean;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = {landmarks[i].x, landmarks[i].y};
    to[i] = {kFaceTemplate[i][0] * width / kFaceSide, kFaceTemplate[i][1] * height / kFaceSide};
    from_mean += from[i] / double{kFaceTemplate.size()};
    to_mean += to[i] / double{kFaceTemplate.size()};
  }
  // In the complex plane, a similarity transform is a multiplication and an addition.
  FacePoint covariance;
  double variance = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    covariance += std::conj(from[i] - from_mean) * (to[i] - to_mean);
    variance += std::norm(from[i] - from_mean);
  }
  const FacePoint back = variance / covariance;
  if (!(variance > 0) || !std::isfinite(variance) || !std::isfinite(std::norm(back))) return {};
  const FacePoint shift = from_mean - back * to_mean;
  return CropWarp{width, height, {back.real(), -back.imag(), shift.real(), back.imag(), back.real(), shift.imag()}};
}

void warp(const FrameView& frame, const CropWarp& crop, std::uint8_t* rgb) {
  const CropPixels pixels(frame);
  const auto& map = crop.map;
  for (int y = 0; y < crop.height; ++y)
    for (int x = 0; x < crop.width; ++x, rgb += 3)
      blend_pixel(pixels, map[0] * x + map[1] * y + map[2], map[3] * x + map[4] * y + map[5], rgb);
}

}  // namespace saccade
