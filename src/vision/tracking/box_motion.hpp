#pragma once

#include <array>

#include "vision/tracking/camera_transform.hpp"

namespace saccade {

/// The noise of a coordinate with constant velocity: variances for one frame.
struct MotionNoise {
  double position = 0;        ///< of the process
  double velocity = 0;        ///< of the process
  double measurement = 0;     ///< of a detection
  double first_position = 0;  ///< of the first state
  double first_velocity = 0;  ///< of the first state
};

/// Time since the last frame.
struct FrameStep {
  double frames = 1;       ///< in frames at the nominal rate
  bool is_nominal = true;  ///< one frame, but for the jitter of timestamps
};

/// A Kalman filter of one coordinate and its velocity per frame. Those of SORT, ByteTrack and OC-SORT couple a box's
/// coordinates only with their own velocities.
class CoordinateFilter {
 public:
  CoordinateFilter() = default;
  CoordinateFilter(double position, const MotionNoise& noise)
      : position_(position), variance_(noise.first_position), velocity_variance_(noise.first_velocity) {}

  /// After a gap, the process noise is that of a discrete white-noise acceleration.
  void predict(const FrameStep& step, const MotionNoise& noise);
  void update(double measured, const MotionNoise& noise);

  /// Scales position, velocity and their deviations.
  void scale(double factor);
  /// Of a coordinate in pixels, after the camera's motion.
  void move(double position, double velocity, double scale);

  double position() const { return position_; }
  double velocity() const { return velocity_; }
  void stop() { velocity_ = 0; }

 private:
  double position_ = 0;
  double velocity_ = 0;
  double variance_ = 0;
  double covariance_ = 0;
  double velocity_variance_ = 0;
};

/// The motion of a box by the four coordinates of two corners (SORT, ByteTrack).
class CornerMotion {
 public:
  CornerMotion() = default;
  explicit CornerMotion(const TrackBox& box);
  void predict(const FrameStep& step);
  void update(const TrackBox& box);
  void move(const CameraTransform& camera);
  TrackBox box() const;

 private:
  std::array<CoordinateFilter, 4> corners_;
};

/// The motion of a box by its centre, area and aspect ratio, of which the ratio has no velocity (OC-SORT).
class ShapeMotion {
 public:
  ShapeMotion() = default;
  explicit ShapeMotion(const TrackBox& box);
  void predict(const FrameStep& step);
  void update(const TrackBox& box);
  void move(const CameraTransform& camera);
  TrackBox box() const;

 private:
  std::array<CoordinateFilter, 4> shape_;  ///< x, y, area, width over height
};

}  // namespace saccade
