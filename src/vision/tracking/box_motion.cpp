#include "vision/tracking/box_motion.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

// Those of Roboflow's trackers 2.6, which are the papers' in pixels and frames.
constexpr MotionNoise kCorner = {
    .position = 0.01, .velocity = 0.01, .measurement = 0.1, .first_position = 1, .first_velocity = 1};
constexpr MotionNoise kCenter = {
    .position = 1, .velocity = 0.01, .measurement = 1, .first_position = 10, .first_velocity = 1e4};
constexpr MotionNoise kArea = {
    .position = 1, .velocity = 1e-4, .measurement = 10, .first_position = 10, .first_velocity = 1e4};
constexpr MotionNoise kRatio = {
    .position = 1, .velocity = 0, .measurement = 10, .first_position = 10, .first_velocity = 0};
constexpr std::array kShape = {kCenter, kCenter, kArea, kRatio};

std::array<double, 4> center_shape(const TrackBox& box) {
  // A box without an area has no ratio.
  constexpr double kLeast = 1e-6;
  const double width = std::max(box[2] - box[0], kLeast);
  const double height = std::max(box[3] - box[1], kLeast);
  return {(box[0] + box[2]) / 2, (box[1] + box[3]) / 2, width * height, width / height};
}

}  // namespace

void CoordinateFilter::predict(const FrameStep& step, const MotionNoise& noise) {
  const double t = step.frames;
  position_ += t * velocity_;
  variance_ += 2 * t * covariance_ + t * t * velocity_variance_;
  covariance_ += t * velocity_variance_;
  if (step.is_nominal || noise.velocity == 0) {
    variance_ += noise.position;
    velocity_variance_ += noise.velocity;
    return;
  }
  variance_ += noise.velocity * t * t * t * t / 4;
  covariance_ += noise.velocity * t * t * t / 2;
  velocity_variance_ += noise.velocity * t * t;
}

void CoordinateFilter::update(double measured, const MotionNoise& noise) {
  const double sum = variance_ + noise.measurement;
  const double gain = variance_ / sum;
  const double velocity_gain = covariance_ / sum;
  const double difference = measured - position_;
  position_ += gain * difference;
  velocity_ += velocity_gain * difference;
  velocity_variance_ -= velocity_gain * covariance_;
  covariance_ *= 1 - gain;
  variance_ *= 1 - gain;
}

void CoordinateFilter::scale(double factor) {
  position_ *= factor;
  velocity_ *= factor;
  variance_ *= factor * factor;
  covariance_ *= factor * factor;
  velocity_variance_ *= factor * factor;
}

void CoordinateFilter::move(double position, double velocity, double factor) {
  scale(factor);
  position_ = position;
  velocity_ = velocity;
}

CornerMotion::CornerMotion(const TrackBox& box) {
  for (std::size_t i = 0; i < 4; ++i) corners_[i] = CoordinateFilter(box[i], kCorner);
}

void CornerMotion::predict(const FrameStep& step) {
  for (CoordinateFilter& corner : corners_) corner.predict(step, kCorner);
}

void CornerMotion::update(const TrackBox& box) {
  for (std::size_t i = 0; i < 4; ++i) corners_[i].update(box[i], kCorner);
}

void CornerMotion::move(const CameraTransform& camera) {
  const TrackBox moved = camera.apply(box());
  for (std::size_t i = 0; i < 4; i += 2) {
    const auto [x, y] = camera.turn(corners_[i].velocity(), corners_[i + 1].velocity());
    corners_[i].move(moved[i], x, camera.scale());
    corners_[i + 1].move(moved[i + 1], y, camera.scale());
  }
}

TrackBox CornerMotion::box() const {
  return {corners_[0].position(), corners_[1].position(), corners_[2].position(), corners_[3].position()};
}

ShapeMotion::ShapeMotion(const TrackBox& box) {
  const std::array<double, 4> shape = center_shape(box);
  for (std::size_t i = 0; i < 4; ++i) shape_[i] = CoordinateFilter(shape[i], kShape[i]);
}

void ShapeMotion::predict(const FrameStep& step) {
  CoordinateFilter& area = shape_[2];
  if (area.position() + step.frames * area.velocity() <= 0) area.stop();
  for (std::size_t i = 0; i < 4; ++i) shape_[i].predict(step, kShape[i]);
}

void ShapeMotion::update(const TrackBox& box) {
  const std::array<double, 4> shape = center_shape(box);
  for (std::size_t i = 0; i < 4; ++i) shape_[i].update(shape[i], kShape[i]);
}

void ShapeMotion::move(const CameraTransform& camera) {
  const double x = shape_[0].position();
  const double y = shape_[1].position();
  const auto velocity = camera.turn(shape_[0].velocity(), shape_[1].velocity());
  shape_[0].move(camera.a * x - camera.b * y + camera.x0, velocity[0], camera.scale());
  shape_[1].move(camera.b * x + camera.a * y + camera.y0, velocity[1], camera.scale());
  shape_[2].scale(camera.scale() * camera.scale());
}

TrackBox ShapeMotion::box() const {
  // Noise may make the ratio of a thin box negative.
  const double area = std::max(shape_[2].position(), 0.0);
  const double width = std::sqrt(area * std::max(shape_[3].position(), 0.0));
  const double height = width > 0 ? area / width : 0;
  const double x = shape_[0].position();
  const double y = shape_[1].position();
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

}  // namespace saccade
