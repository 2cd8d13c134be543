#include "vision/tracking/camera_motion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "saccade/error.hpp"
#include "vision/tracking/object_tracker.hpp"
#include "vision/tracking/result_tracker.hpp"

namespace saccade {
namespace {

/// A smooth texture without an end: waves of several directions and lengths.
class Texture {
 public:
  explicit Texture(unsigned seed, double scale = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (Wave& wave : waves_) {
      const double length = scale * (12 + 90 * uniform(random));
      const double angle = 6.28 * uniform(random);
      wave = {6.28 / length * std::cos(angle), 6.28 / length * std::sin(angle), 6.28 * uniform(random)};
    }
  }
  double at(double x, double y) const {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.x * x + wave.y * y + wave.phase);
    return 128 + 30 * sum;
  }

 private:
  struct Wave {
    double x, y, phase;
  };
  std::array<Wave, 8> waves_;
};

/// A grey frame of what a camera sees of the texture after MOTION.
class Shot {
 public:
  Shot(const Texture& texture, int width, int height, const CameraTransform& motion = {})
      : width_(width), height_(height) {
    const double square = motion.a * motion.a + motion.b * motion.b;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double dx = x + 0.5 - motion.x0;
        const double dy = y + 0.5 - motion.y0;
        const double value =
            texture.at((motion.a * dx + motion.b * dy) / square, (motion.a * dy - motion.b * dx) / square);
        pixels_.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)));
      }
  }
  void cover(int left, int top, int width, int height, std::uint8_t value) {
    for (int y = top; y < top + height; ++y)
      for (int x = left; x < left + width; ++x)
        pixels_[static_cast<std::size_t>(y * width_ + x)] = (x + y) % 7 < 3 ? value : 0;
  }
  FrameView view() const {
    FrameView view{.format = PixelFormat::kGray8, .width = width_, .height = height_};
    view.planes[0] = pixels_.data();
    view.pitch_bytes[0] = width_;
    return view;
  }

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> pixels_;
};

/// The largest distance between what two transforms make of the corners of a frame.
double distance(const CameraTransform& found, const CameraTransform& wanted, double width, double height) {
  double most = 0;
  for (const double x : {0.0, width})
    for (const double y : {0.0, height}) {
      const double dx = (found.a - wanted.a) * x - (found.b - wanted.b) * y + found.x0 - wanted.x0;
      const double dy = (found.b - wanted.b) * x + (found.a - wanted.a) * y + found.y0 - wanted.y0;
      most = std::max(most, std::hypot(dx, dy));
    }
  return most;
}

CameraTransform motion_of(double scale, double angle, double x0, double y0) {
  return {scale * std::cos(angle), scale * std::sin(angle), x0, y0};
}

TEST(CameraMotion, FindsTheMotion) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const bool is_large = seed % 2 == 0;
    const int width = is_large ? 1280 : 322;
    const Texture texture(seed, is_large ? 4 : 1);
    const int height = is_large ? 720 : 243;
    const double side = width / 20.0;
    const CameraTransform wanted =
        motion_of(1 + 0.02 * uniform(random), 0.02 * uniform(random), side * uniform(random), side * uniform(random));
    CameraMotion motion;
    EXPECT_EQ(motion.next(Shot(texture, width, height).view()), CameraTransform());
    const CameraTransform found = motion.next(Shot(texture, width, height, wanted).view());
    EXPECT_LT(distance(found, wanted, width, height), is_large ? 1.5 : 0.5) << seed;
  }
}

TEST(CameraMotion, MovingObjectsDoNotCount) {
  const Texture texture(5);
  Shot first(texture, 640, 360);
  first.cover(100, 80, 200, 160, 220);
  const CameraTransform wanted = motion_of(1, 0, 7, -4);
  Shot second(texture, 640, 360, wanted);
  second.cover(160, 100, 200, 160, 220);
  CameraMotion motion;
  motion.next(first.view());
  EXPECT_LT(distance(motion.next(second.view()), wanted, 640, 360), 0.5);
}

TEST(CameraMotion, AllFormatsAreRead) {
  const Texture texture(2);
  const CameraTransform wanted = motion_of(1, 0, 6, 4);
  for (const PixelFormat format : kPixelFormats) {
    CameraMotion motion;
    CameraTransform found;
    for (const CameraTransform& shown : {CameraTransform(), wanted}) {
      const Shot shot(texture, 320, 240, shown);
      std::vector<std::byte> bytes(frame_bytes(format, 320, 240), std::byte{128});
      FrameBuffer buffer{.data = bytes.data(), .capacity = bytes.size()};
      const FrameView view = lay_out(buffer, format, 320, 240);
      const int step = format == PixelFormat::kRgb24 || format == PixelFormat::kBgr24 ? 3
                       : format == PixelFormat::kYuyv || format == PixelFormat::kUyvy ? 2
                                                                                      : 1;
      for (int y = 0; y < 240; ++y)
        for (int x = 0; x < 320; ++x)
          for (int i = 0; i < (step == 3 ? 3 : 1); ++i)
            bytes[static_cast<std::size_t>(view.planes[0] - reinterpret_cast<const std::uint8_t*>(bytes.data())) +
                  static_cast<std::size_t>(y * view.pitch_bytes[0] + step * x + i +
                                           (format == PixelFormat::kUyvy ? 1 : 0))] =
                static_cast<std::byte>(shot.view().planes[0][y * 320 + x]);
      found = motion.next(view);
    }
    EXPECT_LT(distance(found, wanted, 320, 240), 0.6) << to_string(format);
  }
}

TEST(CameraMotion, FramesWithoutATextureHaveNone) {
  const std::vector<std::uint8_t> black(320 * 240);
  FrameView view{.format = PixelFormat::kGray8, .width = 320, .height = 240};
  view.planes[0] = black.data();
  view.pitch_bytes[0] = 320;
  CameraMotion motion;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(motion.next(view), CameraTransform());
  EXPECT_EQ(motion.next(Shot(Texture(1), 320, 240).view()), CameraTransform());
  EXPECT_EQ(motion.next(Shot(Texture(1), 64, 48).view()), CameraTransform());  // another size
  EXPECT_EQ(motion.next(Shot(Texture(1), 3, 2).view()), CameraTransform());
  EXPECT_EQ(motion.next(Shot(Texture(1), 3, 2).view()), CameraTransform());
  view.memory = MemoryKind::kDevice;
  EXPECT_THROW(motion.next(view), Error);
}

/// An object that stands still while the camera pans by more than its width.
TEST(CameraMotion, TrackersOfResultsTakeItOut) {
  const Texture texture(7);
  const auto ids = [&](const char* options) {
    ResultTracker tracker(tracker_options(options), Thresholds({0.5F}), 25);
    std::vector<std::int64_t> found;
    for (int i = 0; i < 8; ++i) {
      const auto moved = static_cast<float>(14 * i);
      Result result;
      result.timestamp_ns = i * 40'000'000LL;
      Detection object;
      object.box = {60 + moved, 80, 72 + moved, 120};
      object.confidence = 0.9F;
      result.detections = {object};
      tracker.update(result, Shot(texture, 320, 240, motion_of(1, 0, moved, 0)).view());
      found.push_back(result.detections[0].track_id);
    }
    return found;
  };
  EXPECT_EQ(ids("bytetrack:camera=1,confirm=1"), std::vector<std::int64_t>(8, 1));
  EXPECT_NE(ids("bytetrack:camera=0,confirm=1"), std::vector<std::int64_t>(8, 1));
}

class MovedTrackers : public testing::TestWithParam<const char*> {};

/// An object that stands still while the camera pans by more than its width, rotates and zooms.
TEST_P(MovedTrackers, FollowWhatTheCameraMoves) {
  const auto tracker = make_tracker(settings_for(tracker_options(GetParam()), 0.5), 25);
  const CameraTransform pan = motion_of(1.01, 0.02, 45, -6);
  TrackBox box = {100, 100, 140, 160};
  std::int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const TrackedBox seen{.box = {static_cast<float>(box[0]), static_cast<float>(box[1]), static_cast<float>(box[2]),
                                  static_cast<float>(box[3])},
                          .confidence = 0.9F};
    std::int64_t id = 0;
    tracker->update({&seen, 1}, std::chrono::milliseconds(40 * i), {&id, 1}, i == 0 ? CameraTransform() : pan);
    if (i > 4) {
      EXPECT_EQ(id, 1) << i;
    }
    last = id;
    // A gap of two frames.
    box = pan.apply(box);
    if (i != 12) continue;
    for (int gap = 0; gap < 2; ++gap) {
      ++i;
      tracker->update({}, std::chrono::milliseconds(40 * i), {}, pan);
      box = pan.apply(box);
    }
  }
  EXPECT_EQ(last, 1);
}

INSTANTIATE_TEST_SUITE_P(All, MovedTrackers, testing::Values("bytetrack", "ocsort", "sort"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace saccade
