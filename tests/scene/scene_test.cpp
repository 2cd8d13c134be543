#include "scene/scene.hpp"

#include <gtest/gtest.h>

#include "scene/image.hpp"
#include "scene/random.hpp"

namespace saccade {
namespace {

using test::mean_light;
using test::mean_step;
using test::render;
using test::RgbImage;

constexpr SceneOptions kSmall{.width = 160, .height = 120, .objects = 12};

SceneOptions with(std::optional<float> night, std::optional<float> blur, std::optional<float> noise) {
  SceneOptions options = kSmall;
  options.night = night;
  options.blur = blur;
  options.noise = noise;
  return options;
}

TEST(Scene, AFrameFollowsFromOptionsAndNumberAlone) {
  Scene in_order(kSmall);
  std::vector<RgbImage> images;
  for (int frame = 0; frame < 8; ++frame) images.push_back(render(in_order, frame));

  Scene jumping(kSmall);
  jumping.truth(3);
  for (const int frame : {5, 0, 7, 5, 2})
    EXPECT_EQ(render(jumping, frame), images[static_cast<std::size_t>(frame)]) << frame;
  EXPECT_NE(images[0], images[1]);
}

TEST(Scene, SeedsDiffer) {
  SceneOptions other = kSmall;
  other.seed = 2;
  const RgbImage a = render(kSmall, 0);
  const RgbImage b = render(other, 0);
  int equal = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) equal += a.pixels[i] == b.pixels[i] ? 1 : 0;
  EXPECT_LT(equal, static_cast<int>(a.pixels.size() / 5));
}

/// The reference digest of a frame: all machines, compilers and build types must draw the same. A deliberate change of
/// the scene's appearance changes it, and models trained on it have to be evaluated again.
TEST(Scene, DrawsTheSameBytesEverywhere) {
  std::uint64_t digest = 0;
  for (int place = 0; place < 4; ++place) {
    SceneOptions options{.seed = 42, .width = 320, .height = 240, .objects = 24, .place = place};
    for (const std::uint8_t byte : render(options, 100 * (place + 1)).pixels) digest = scene::mix(digest, byte);
  }
  EXPECT_EQ(digest, 2844794530455196460ULL);
}

TEST(Scene, NightIsDarkAndBlue) {
  const RgbImage day = render(with(0.0F, 0.0F, 0.0F), 10);
  const RgbImage dusk = render(with(0.5F, 0.0F, 0.0F), 10);
  const RgbImage night = render(with(1.0F, 0.0F, 0.0F), 10);
  EXPECT_LT(mean_light(dusk), mean_light(day));
  EXPECT_LT(mean_light(night), 0.6 * mean_light(day));
  double red = 0;
  double blue = 0;
  for (std::size_t i = 0; i < night.pixels.size(); i += 3) {
    red += night.pixels[i];
    blue += night.pixels[i + 2];
  }
  EXPECT_GT(blue, 1.1 * red);
}

TEST(Scene, BlurSoftensAndNoiseRoughens) {
  const auto roughness = [](float blur, float noise) {
    Scene scene({.objects = 24, .night = 0.0F, .blur = blur, .noise = noise});
    return mean_step(render(scene, 25)) + mean_step(render(scene, 125)) + mean_step(render(scene, 225));
  };
  const double sharp = roughness(0, 0);
  EXPECT_LT(roughness(1, 0), 0.9 * sharp);
  EXPECT_GT(roughness(0, 0.3F), 1.5 * sharp);
}

TEST(Scene, LightChangesWithTimeWhereItIsNotGiven) {
  Scene scene(kSmall);
  float lowest = 1;
  float highest = 0;
  for (int second = 0; second < 60; ++second) {
    const float night = scene.truth(30 * second).night;
    lowest = std::min(lowest, night);
    highest = std::max(highest, night);
  }
  EXPECT_EQ(lowest, 0);
  EXPECT_EQ(highest, 1);
  EXPECT_EQ(Scene(with(0.25F, {}, {})).truth(77).night, 0.25F);
}

TEST(Scene, AnySizeCanBeDrawn) {
  constexpr std::pair<int, int> kSizes[] = {{16, 16}, {321, 243}, {17, 640}, {4000, 3000}, {8192, 16}, {16, 8192}};
  for (const auto& [width, height] : kSizes) {
    const RgbImage image = render({.width = width, .height = height, .night = 0.0F}, 3);
    EXPECT_GT(mean_light(image), 30) << width << "x" << height;
  }
}

TEST(Scene, NothingIsDrawnBetweenRows) {
  constexpr int kPitch = 512;
  Scene scene(kSmall);
  std::vector<std::uint8_t> padded(static_cast<std::size_t>(kPitch) * 120, 77);
  scene.render(4, {padded.data(), kPitch, 160, 120});

  const RgbImage image = render(scene, 4);
  for (int y = 0; y < 120; ++y) {
    const std::uint8_t* row = padded.data() + static_cast<std::ptrdiff_t>(y) * kPitch;
    EXPECT_TRUE(std::equal(row, row + 480, image.at(0, y))) << y;
    EXPECT_EQ(std::count(row + 480, row + kPitch, 77), kPitch - 480) << y;
  }
}

TEST(Scene, PlacesAreAsRequested) {
  for (int place = 0; place < 4; ++place) EXPECT_EQ(Scene({.place = place}).truth(0).place, place);
  std::array<int, 4> seen{};
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    ++seen[static_cast<std::size_t>(Scene({.seed = seed, .width = 16, .height = 16}).truth(0).place)];
  for (const int count : seen) EXPECT_GT(count, 2);
}

}  // namespace
}  // namespace saccade
