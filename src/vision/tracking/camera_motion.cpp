#include "vision/tracking/camera_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace saccade {
namespace {

constexpr int kCoarseSide = 320;
/// Of the coarsest level.
constexpr int kCoarsestSide = 12;
/// One feature for each square of this many pixels.
constexpr int kCell = 6;
/// Grey values per pixel below which an edge is noise.
constexpr float kLeastGradient = 2;
constexpr std::size_t kLeastFeatures = 24;
constexpr int kIterations = 12;
/// Share of the features that must stay inside the frame.
constexpr double kLeastInside = 0.4;
/// Of the residuals over those without a motion: other alignments of a texture have as large ones.
constexpr float kLeastGain = 0.7F;
constexpr float kTukey = 4.685F;      // 95 % efficient for normal residuals
constexpr float kDeviation = 1.483F;  // of normal residuals over their median
constexpr float kLeastDeviation = 1;  // grey values

/// Adds the luma of a row's pixels to SUMS.
void add_row(const FrameView& frame, int y, std::uint32_t* sums) {
  const std::uint8_t* row = frame.planes[0] + static_cast<std::ptrdiff_t>(y) * frame.pitch_bytes[0];
  switch (frame.format) {
    case PixelFormat::kRgb24:
    case PixelFormat::kBgr24:
      for (int x = 0; x < frame.width; ++x) sums[x] += (row[3 * x] + 2U * row[3 * x + 1] + row[3 * x + 2]) / 4;
      break;
    case PixelFormat::kYuyv:
      for (int x = 0; x < frame.width; ++x) sums[x] += row[2 * x];
      break;
    case PixelFormat::kUyvy:
      for (int x = 0; x < frame.width; ++x) sums[x] += row[2 * x + 1];
      break;
    default:  // a plane of luma, or a mosaic, whose colours the squares of a coarse pixel average
      for (int x = 0; x < frame.width; ++x) sums[x] += row[x];
  }
}

void halve(const LumaPlane& from, LumaPlane& to) {
  to.resize(from.width / 2, from.height / 2);
  float* out = to.pixels.data();
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x)
      *out++ = (from.at(2 * x, 2 * y) + from.at(2 * x + 1, 2 * y) + from.at(2 * x, 2 * y + 1) +
                from.at(2 * x + 1, 2 * y + 1)) /
               4;
}

/// Bilinear; (x, y) is at least a pixel inside.
float sample(const LumaPlane& plane, float x, float y) {
  const int left = static_cast<int>(x);
  const int top = static_cast<int>(y);
  const float right = x - static_cast<float>(left);
  const float down = y - static_cast<float>(top);
  const float upper = plane.at(left, top) + right * (plane.at(left + 1, top) - plane.at(left, top));
  const float lower = plane.at(left, top + 1) + right * (plane.at(left + 1, top + 1) - plane.at(left, top + 1));
  return upper + down * (lower - upper);
}

using Row = std::array<double, 4>;

/// Solves MATRIX x = RIGHT, symmetric and positive, by Cholesky's method; false if it is singular.
bool solve(std::array<Row, 4> matrix, Row& right) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i][k] * matrix[j][k];
      if (i == j && !(sum > 1e-9)) return false;
      matrix[i][j] = i == j ? std::sqrt(sum) : sum / matrix[j][j];
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i][k] * right[k];
    right[i] /= matrix[i][i];
  }
  for (std::size_t i = 4; i-- > 0;) {
    for (std::size_t k = i + 1; k < 4; ++k) right[i] -= matrix[k][i] * right[k];
    right[i] /= matrix[i][i];
  }
  return true;
}

}  // namespace

void LumaPlane::resize(int columns, int rows) {
  width = columns;
  height = rows;
  pixels.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
}

void CameraMotion::build(const FrameView& frame, Pyramid& pyramid) {
  factor_ = std::max(1, (std::max(frame.width, frame.height) + kCoarseSide - 1) / kCoarseSide);
  if (is_mosaic(frame.format)) factor_ = (factor_ + 1) / 2 * 2;
  LumaPlane& finest = pyramid[0];
  finest.resize(frame.width / factor_, frame.height / factor_);
  row_.resize(static_cast<std::size_t>(frame.width));
  float* out = finest.pixels.data();
  const float scale = 1 / static_cast<float>(factor_ * factor_);
  for (int y = 0; y < finest.height; ++y) {
    std::ranges::fill(row_, 0U);
    for (int i = 0; i < factor_; ++i) add_row(frame, y * factor_ + i, row_.data());
    const std::uint32_t* sums = row_.data();
    for (int x = 0; x < finest.width; ++x) {
      std::uint32_t sum = 0;
      for (int i = 0; i < factor_; ++i) sum += *sums++;
      *out++ = scale * static_cast<float>(sum);
    }
  }
  for (std::size_t level = 1; level < kLevels; ++level) halve(pyramid[level - 1], pyramid[level]);
}

/// Makes room for a feature of each cell.
void CameraMotion::reserve() {
  const auto cells_of = [](const LumaPlane& plane) {
    return static_cast<std::size_t>(plane.width / kCell + 1) * static_cast<std::size_t>(plane.height / kCell + 1);
  };
  for (std::size_t level = 0; level < kLevels; ++level) features_[level].reserve(cells_of(now_[level]));
  residuals_.reserve(cells_of(now_[0]));
  sizes_.reserve(cells_of(now_[0]));
}

/// The pixel with the steepest gradient of each cell.
void CameraMotion::find_features(const LumaPlane& plane, std::vector<Feature>& features) const {
  features.clear();
  for (int top = 1; top + kCell < plane.height; top += kCell)
    for (int left = 1; left + kCell < plane.width; left += kCell) {
      Feature best;
      float steepest = kLeastGradient * kLeastGradient;
      for (int y = top; y < top + kCell; ++y)
        for (int x = left; x < left + kCell; ++x) {
          const float across = (plane.at(x + 1, y) - plane.at(x - 1, y)) / 2;
          const float down = (plane.at(x, y + 1) - plane.at(x, y - 1)) / 2;
          const float square = across * across + down * down;
          if (square <= steepest) continue;
          steepest = square;
          best = {static_cast<float>(x), static_cast<float>(y), plane.at(x, y), across, down};
        }
      if (best.gradient_x != 0 || best.gradient_y != 0) features.push_back(best);
    }
}

/// Fills the residuals of the features, NaN outside of the plane. Returns the median of their sizes; infinity if most
/// are outside.
float CameraMotion::residual(std::size_t level, const CameraTransform& transform) {
  const LumaPlane& plane = now_[level];
  const float right = static_cast<float>(plane.width) - 2;
  const float bottom = static_cast<float>(plane.height) - 2;
  const auto a = static_cast<float>(transform.a);
  const auto b = static_cast<float>(transform.b);
  const auto x0 = static_cast<float>(transform.x0);
  const auto y0 = static_cast<float>(transform.y0);
  residuals_.clear();
  sizes_.clear();
  for (const Feature& each : features_[level]) {
    const float x = a * each.x - b * each.y + x0;
    const float y = b * each.x + a * each.y + y0;
    const bool is_inside = x >= 1 && y >= 1 && x < right && y < bottom;
    residuals_.push_back(is_inside ? sample(plane, x, y) - each.value : std::numeric_limits<float>::quiet_NaN());
    if (is_inside) sizes_.push_back(std::abs(residuals_.back()));
  }
  if (static_cast<double>(sizes_.size()) <= kLeastInside * static_cast<double>(residuals_.size()))
    return std::numeric_limits<float>::infinity();
  const auto middle = sizes_.begin() + static_cast<std::ptrdiff_t>(sizes_.size() / 2);
  std::ranges::nth_element(sizes_, middle);
  return *middle;
}

/// Improves TRANSFORM, in pixels of LEVEL. False if the frames can't be aligned there.
bool CameraMotion::align(std::size_t level, CameraTransform& transform) {
  const LumaPlane& plane = now_[level];
  const std::vector<Feature>& features = features_[level];
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const float median = residual(level, transform);
    if (!std::isfinite(median)) return false;
    const float limit = kTukey * std::max(kDeviation * median, kLeastDeviation);
    std::array<Row, 4> matrix{};
    Row step{};
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (!(std::abs(residuals_[i]) < limit)) continue;
      const Feature& each = features[i];
      const float part = residuals_[i] / limit;
      const float weight = (1 - part * part) * (1 - part * part);
      // The derivatives by a, b, x0, y0, with the gradient of the last frame (inverse composition).
      const Row slope = {each.gradient_x * each.x + each.gradient_y * each.y,
                         each.gradient_y * each.x - each.gradient_x * each.y, each.gradient_x, each.gradient_y};
      for (std::size_t r = 0; r < 4; ++r) {
        for (std::size_t c = 0; c <= r; ++c) matrix[r][c] += weight * slope[r] * slope[c];
        step[r] += weight * slope[r] * residuals_[i];
      }
    }
    if (!solve(matrix, step)) return false;
    // The step moves the last frame: its inverse precedes the transform.
    const double da = 1 + step[0];
    const double db = step[1];
    const double square = da * da + db * db;
    if (!(square > 0.25 && square < 4)) return false;
    const double ia = da / square;
    const double ib = -db / square;
    const double ix = -(ia * step[2] - ib * step[3]);
    const double iy = -(ib * step[2] + ia * step[3]);
    transform = {transform.a * ia - transform.b * ib, transform.a * ib + transform.b * ia,
                 transform.a * ix - transform.b * iy + transform.x0,
                 transform.b * ix + transform.a * iy + transform.y0};
    const double moved = std::abs(step[2]) + std::abs(step[3]) + plane.width * (std::abs(step[0]) + std::abs(step[1]));
    if (moved < 0.01) break;
  }
  return true;
}

/// The alignment of the finest level from LEVEL on down; nothing if the frames do not match.
std::optional<CameraTransform> CameraMotion::align_from(std::size_t level) {
  CameraTransform transform;
  while (true) {
    const bool is_large = std::min(now_[level].width, now_[level].height) >= kCoarsestSide;
    if (is_large && features_[level].size() >= kLeastFeatures && !align(level, transform)) return std::nullopt;
    if (level-- == 0) break;
    // The centres of the pixels of two levels are half a pixel of the finer one apart.
    transform = transform.in_pixels(2, 0.5);
  }
  const bool matches = residual(0, transform) < kLeastGain * residual(0, {});
  return matches ? std::optional(transform) : std::nullopt;
}

CameraTransform CameraMotion::next(const FrameView& frame) {
  check_readable(frame);
  const bool is_first = frame.width != width_ || frame.height != height_;
  width_ = frame.width;
  height_ = frame.height;
  build(frame, now_);
  if (is_first) reserve();
  // A level may be too coarse for what the frame shows.
  std::optional<CameraTransform> transform;
  for (std::size_t level = kLevels; !is_first && !transform && level-- > 0;) transform = align_from(level);
  std::swap(last_, now_);
  for (std::size_t level = 0; level < kLevels; ++level) find_features(last_[level], features_[level]);
  // The first pixel of a frame begins at 0, and the centre of the finest level's is at 0.
  return transform ? transform->in_pixels(factor_, 0.5 * factor_) : CameraTransform();
}

}  // namespace saccade
