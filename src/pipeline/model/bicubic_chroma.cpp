#include "pipeline/model/bicubic_chroma.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr float kRedWeight = 0.299F;
constexpr float kBlueWeight = 0.114F;
constexpr float kGreenWeight = 1 - kRedWeight - kBlueWeight;

float cubic(float distance) {
  constexpr float kA = -0.5F;
  const float d = std::abs(distance);
  if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
  if (d < 2) return ((d - 5) * d + 8) * d * kA - 4 * kA;
  return 0;
}

std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F); }

}  // namespace

BicubicChroma::CubicTap BicubicChroma::tap_of(int position, int count, int samples) {
  const double centre = (position + 0.5) * samples / count - 0.5;
  const int first = static_cast<int>(std::floor(centre)) - 1;
  CubicTap tap;
  for (int i = 0; i < 4; ++i) {
    const auto k = static_cast<std::size_t>(i);
    tap.at[k] = std::clamp(first + i, 0, samples - 1);
    tap.weight[k] = cubic(static_cast<float>(centre - (first + i)));
  }
  return tap;
}

void BicubicChroma::begin(const RgbView& source, int width, int height) {
  width_ = width;
  height_ = height;
  columns_ = source.width;
  rows_ = source.height;
  source_.resize(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_));
  row_.resize(static_cast<std::size_t>(columns_));
  columns_of_.resize(static_cast<std::size_t>(width));
  for (int x = 0; x < width; ++x) columns_of_[static_cast<std::size_t>(x)] = tap_of(x, width, columns_);
  auto to = source_.begin();
  for (int y = 0; y < rows_; ++y) {
    const std::uint8_t* pixel = source.data + static_cast<std::ptrdiff_t>(y) * source.pitch_bytes;
    for (int x = 0; x < columns_; ++x, pixel += 3) {
      const float luma = kRedWeight * pixel[0] + kGreenWeight * pixel[1] + kBlueWeight * pixel[2];
      *to++ = {pixel[0] - luma, pixel[2] - luma};
    }
  }
}

void BicubicChroma::color_row(int y, std::uint8_t* row) {
  const CubicTap down = tap_of(y, height_, rows_);
  std::ranges::fill(row_, Chroma{});
  for (std::size_t k = 0; k < 4; ++k) {
    const Chroma* line = &source_[static_cast<std::size_t>(down.at[k]) * row_.size()];
    for (std::size_t x = 0; x < row_.size(); ++x) {
      row_[x].red += down.weight[k] * line[x].red;
      row_[x].blue += down.weight[k] * line[x].blue;
    }
  }
  for (const CubicTap& across : columns_of_) {
    Chroma chroma;
    for (std::size_t k = 0; k < 4; ++k) {
      const Chroma& sample = row_[static_cast<std::size_t>(across.at[k])];
      chroma.red += across.weight[k] * sample.red;
      chroma.blue += across.weight[k] * sample.blue;
    }
    const float luma = row[0];
    row[0] = to_byte(luma + chroma.red);
    row[1] = to_byte(luma - (kRedWeight * chroma.red + kBlueWeight * chroma.blue) / kGreenWeight);
    row[2] = to_byte(luma + chroma.blue);
    row += 3;
  }
}

}  // namespace saccade
