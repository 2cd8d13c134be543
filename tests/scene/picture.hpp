#pragma once

#include <cstdint>
#include <vector>

#include "scene/scene.hpp"

namespace saccade::test {

/// A frame of a scene, rows without gaps.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;

  const std::uint8_t* at(int x, int y) const {
    return pixels.data() + 3 * (static_cast<std::ptrdiff_t>(y) * width + x);
  }
  /// The sum of the three colours.
  int light(int x, int y) const { return at(x, y)[0] + at(x, y)[1] + at(x, y)[2]; }
  bool operator==(const Picture&) const = default;
};

inline Picture render(Scene& scene, std::int64_t frame) {
  Picture picture{scene.options().width, scene.options().height, {}};
  picture.pixels.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  scene.render(frame, {picture.pixels.data(), 3 * picture.width, picture.width, picture.height});
  return picture;
}

inline Picture render(const SceneOptions& options, std::int64_t frame) {
  Scene scene(options);
  return render(scene, frame);
}

inline double mean_light(const Picture& picture) {
  double sum = 0;
  for (const std::uint8_t byte : picture.pixels) sum += byte;
  return sum / static_cast<double>(picture.pixels.size());
}

/// How much neighbours differ on average, along rows and columns: sharpness, and noise.
inline double mean_step(const Picture& picture) {
  double sum = 0;
  const auto row = static_cast<std::size_t>(3 * picture.width);
  for (std::size_t i = row; i < picture.pixels.size(); ++i)
    sum += std::abs(picture.pixels[i] - picture.pixels[i - 3]) + std::abs(picture.pixels[i] - picture.pixels[i - row]);
  return sum / static_cast<double>(picture.pixels.size());
}

}  // namespace saccade::test
