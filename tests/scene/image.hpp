#pragma once

#include <cstdint>
#include <vector>

#include "scene/scene.hpp"

namespace saccade::test {

/// A frame of a scene, rows without padding.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;

  const std::uint8_t* at(int x, int y) const {
    return pixels.data() + 3 * (static_cast<std::ptrdiff_t>(y) * width + x);
  }
  /// The sum of the three colours.
  int light(int x, int y) const { return at(x, y)[0] + at(x, y)[1] + at(x, y)[2]; }
  bool operator==(const RgbImage&) const = default;
};

inline RgbImage render(Scene& scene, std::int64_t frame) {
  RgbImage image{scene.options().width, scene.options().height, {}};
  image.pixels.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3);
  scene.render(frame, {image.pixels.data(), 3 * image.width, image.width, image.height});
  return image;
}

inline RgbImage render(const SceneOptions& options, std::int64_t frame) {
  Scene scene(options);
  return render(scene, frame);
}

inline double mean_light(const RgbImage& image) {
  double sum = 0;
  for (const std::uint8_t byte : image.pixels) sum += byte;
  return sum / static_cast<double>(image.pixels.size());
}

/// The mean difference of neighbours along rows and columns: sharpness, and noise.
inline double mean_step(const RgbImage& image) {
  double sum = 0;
  const auto row = static_cast<std::size_t>(3 * image.width);
  for (std::size_t i = row; i < image.pixels.size(); ++i)
    sum += std::abs(image.pixels[i] - image.pixels[i - 3]) + std::abs(image.pixels[i] - image.pixels[i - row]);
  return sum / static_cast<double>(image.pixels.size());
}

}  // namespace saccade::test
