#include "validate/rain.hpp"

#include <algorithm>
#include <cmath>

#include "scene/random.hpp"

namespace saccade {
namespace {

constexpr float kMist = 0.2F;
constexpr float kMistGrey = 160;
constexpr float kDropGrey = 210;
constexpr int kPixelsAStreak = 600;
constexpr int kLengths = 12;  // a streak is at most this fraction of the height

/// Mixes SHARE of GREY into the pixel (x, y).
void mix(const RgbView& image, int x, int y, float grey, float share) {
  if (x < 0 || x >= image.width || y < 0 || y >= image.height) return;
  std::uint8_t* pixel =
      image.data + static_cast<std::ptrdiff_t>(y) * image.pitch_bytes + 3 * static_cast<std::ptrdiff_t>(x);
  for (int c = 0; c < 3; ++c) {
    const float value = static_cast<float>(pixel[c]);
    pixel[c] = static_cast<std::uint8_t>(std::lround(value + share * (grey - value)));
  }
}

struct Streak {
  float x;  ///< of its upper end
  float y;
  float slant;  ///< horizontal pixels per row
  int length;   ///< rows
  float width;
  float share;  ///< opacity at the brightest point, the middle of the streak
};

void draw(const RgbView& image, const Streak& streak) {
  for (int i = 0; i < streak.length; ++i) {
    const float along = (static_cast<float>(i) + 0.5F) / static_cast<float>(streak.length);
    const float share = streak.share * (1 - std::abs(2 * along - 1));
    const float left = streak.x + streak.slant * static_cast<float>(i);
    const float right = left + streak.width;
    for (int x = static_cast<int>(std::floor(left)); static_cast<float>(x) < right; ++x) {
      const float cover = std::min(right, static_cast<float>(x) + 1) - std::max(left, static_cast<float>(x));
      mix(image, x, static_cast<int>(streak.y) + i, kDropGrey, share * cover);
    }
  }
}

}  // namespace

void rain(const RgbView& image, std::uint64_t seed) {
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) mix(image, x, y, kMistGrey, kMist);
  scene::Random random(seed);
  const float slant = random.between(-0.35F, 0.35F);
  const auto count = static_cast<std::int64_t>(image.width) * image.height / kPixelsAStreak;
  const int longest = std::max(3, image.height / kLengths);
  for (std::int64_t i = 0; i < count; ++i) {
    const float nearness = random.between(0.5F, 1);  // near streaks are longer, wider and brighter
    const int length = std::max(3, static_cast<int>(nearness * static_cast<float>(longest)));
    draw(image, {.x = random.between(-0.1F, 1.1F) * static_cast<float>(image.width),
                 .y = std::floor(random.between(-0.1F, 1) * static_cast<float>(image.height)),
                 .slant = slant + random.between(-0.03F, 0.03F),
                 .length = length,
                 .width = 1.5F * nearness * std::max(1.0F, static_cast<float>(image.height) / 720),
                 .share = 0.7F * nearness});
  }
}

}  // namespace saccade
