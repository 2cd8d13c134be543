#include "vision/tracking/box_motion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace saccade {
namespace {

using Matrix = std::array<std::array<double, 2>, 2>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made{};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) made[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j];
  return made;
}
Matrix transposed(const Matrix& a) { return {{{a[0][0], a[1][0]}, {a[0][1], a[1][1]}}}; }
Matrix sum(const Matrix& a, const Matrix& b) {
  return {{{a[0][0] + b[0][0], a[0][1] + b[0][1]}, {a[1][0] + b[1][0], a[1][1] + b[1][1]}}};
}

/// The Kalman filter by its matrices, with Joseph's form of the update.
struct Reference {
  MotionNoise noise;
  double position;
  double velocity = 0;
  Matrix covariance;

  Reference(double first, const MotionNoise& all)
      : noise(all), position(first), covariance({{{all.first_position, 0}, {0, all.first_velocity}}}) {}

  void predict(const FrameStep& step) {
    const double t = step.frames;
    const Matrix transition = {{{1, t}, {0, 1}}};
    const double q = noise.velocity;
    const Matrix process =
        step.is_nominal
            ? Matrix{{{noise.position, 0}, {0, q}}}
            : Matrix{{{q * std::pow(t, 4) / 4, q * std::pow(t, 3) / 2}, {q * std::pow(t, 3) / 2, q * t * t}}};
    position += t * velocity;
    covariance = sum(product(product(transition, covariance), transposed(transition)), process);
  }
  void update(double measured) {
    const double innovation = covariance[0][0] + noise.measurement;
    const double gain = covariance[0][0] / innovation;
    const double velocity_gain = covariance[1][0] / innovation;
    const double difference = measured - position;
    position += gain * difference;
    velocity += velocity_gain * difference;
    const Matrix rest = {{{1 - gain, 0}, {-velocity_gain, 1}}};
    const Matrix measured_noise = {
        {{gain * gain * noise.measurement, gain * velocity_gain * noise.measurement},
         {gain * velocity_gain * noise.measurement, velocity_gain * velocity_gain * noise.measurement}}};
    covariance = sum(product(product(rest, covariance), transposed(rest)), measured_noise);
  }
};

TEST(CoordinateFilter, EqualsItsMatrices) {
  constexpr MotionNoise kNoise = {
      .position = 0.3, .velocity = 0.02, .measurement = 0.7, .first_position = 10, .first_velocity = 1000};
  std::mt19937 random(2);
  CoordinateFilter filter(5, kNoise);
  Reference reference(5, kNoise);
  for (int i = 0; i < 300; ++i) {
    const bool is_nominal = random() % 3 != 0;
    const FrameStep step = {.frames = is_nominal ? 1.02 : 0.5 + static_cast<double>(random() % 70) / 10,
                            .is_nominal = is_nominal};
    filter.predict(step, kNoise);
    reference.predict(step);
    if (random() % 4 != 0) {
      const double measured = 3.0 * i + static_cast<double>(random() % 10);
      filter.update(measured, kNoise);
      reference.update(measured);
    }
    EXPECT_NEAR(filter.position(), reference.position, 1e-6 * std::abs(reference.position) + 1e-6);
    EXPECT_NEAR(filter.velocity(), reference.velocity, 1e-6 * std::abs(reference.velocity) + 1e-6);
  }
}

template <typename Motion>
void expect_follows() {
  const auto at = [](double frame) {
    return TrackBox{10 + 4 * frame, 20 + 2 * frame, 60 + 4 * frame, 120 + 2 * frame};
  };
  Motion motion(at(0));
  for (int frame = 1; frame < 40; ++frame) {
    motion.predict({});
    motion.update(at(frame));
  }
  motion.predict({.frames = 5, .is_nominal = false});
  const TrackBox box = motion.box();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(box[i], at(44)[i], 0.5) << i;
}

TEST(BoxMotion, GoesOnThroughAGap) {
  expect_follows<CornerMotion>();
  expect_follows<ShapeMotion>();
}

/// A box that shrinks does not turn inside out.
TEST(BoxMotion, AnAreaStaysPositive) {
  ShapeMotion motion({0, 0, 100, 100});
  for (int frame = 1; frame < 9; ++frame) {
    motion.predict({});
    motion.update({0, 0, 100.0 - 12 * frame, 100});
  }
  for (int frame = 0; frame < 50; ++frame) {
    motion.predict({.frames = 3, .is_nominal = false});
    const TrackBox box = motion.box();
    EXPECT_GE(box[2], box[0]);
    EXPECT_GE(box[3], box[1]);
  }
}

}  // namespace
}  // namespace saccade
