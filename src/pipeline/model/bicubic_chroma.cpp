#include "pipeline/model/bicubic_chroma.hpp"

#include <algorithm>
#include <utility>

namespace saccade {
namespace {

constexpr float kRedWeight = 0.299F;
constexpr float kBlueWeight = 0.114F;
constexpr float kGreenWeight = 1 - kRedWeight - kBlueWeight;

/// A weight of 1 is 1 << kWeightBits.
constexpr int kWeightBits = 14;
constexpr float kWeightOfOne = 1.0F / (1 << kWeightBits);

std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F); }

}  // namespace

void BicubicChroma::Axis::set(int count, int samples) {
  if (std::exchange(samples_, samples) == samples && table.positions() == count) return;
  table.build(Interpolation::kBicubicAntialias, FilterAxis::of(0, samples, 1, count, 0), {0, count}, kWeightBits,
              count <= samples);
}

void BicubicChroma::begin(const RgbView& source, int width, int height) {
  across_.set(width, source.width);
  down_.set(height, source.height);
  source_.resize(static_cast<std::size_t>(source.width) * static_cast<std::size_t>(source.height));
  row_.resize(static_cast<std::size_t>(source.width));
  auto to = source_.begin();
  for (int y = 0; y < source.height; ++y) {
    const std::uint8_t* pixel = source.data + static_cast<std::ptrdiff_t>(y) * source.pitch_bytes;
    for (int x = 0; x < source.width; ++x, pixel += 3) {
      const float luma = kRedWeight * pixel[0] + kGreenWeight * pixel[1] + kBlueWeight * pixel[2];
      *to++ = {pixel[0] - luma, pixel[2] - luma};
    }
  }
}

void BicubicChroma::color_row(int y, std::uint8_t* row) {
  std::ranges::fill(row_, Chroma{});
  for (int k = 0; k < down_.table.taps(); ++k) {
    const float weight = static_cast<float>(down_.table.weights(y)[k]) * kWeightOfOne;
    const auto line = static_cast<std::size_t>(down_.table.first()[static_cast<std::size_t>(y)] + k);
    const Chroma* from = &source_[line * row_.size()];
    for (std::size_t x = 0; x < row_.size(); ++x) row_[x].add(weight, from[x]);
  }
  for (int x = 0; x < across_.table.positions(); ++x, row += 3) {
    Chroma chroma;
    const Chroma* from = &row_[static_cast<std::size_t>(across_.table.first()[static_cast<std::size_t>(x)])];
    for (int k = 0; k < across_.table.taps(); ++k)
      chroma.add(static_cast<float>(across_.table.weights(x)[k]) * kWeightOfOne, from[k]);
    const float luma = row[0];
    row[0] = to_byte(luma + chroma.red);
    row[1] = to_byte(luma - (kRedWeight * chroma.red + kBlueWeight * chroma.blue) / kGreenWeight);
    row[2] = to_byte(luma + chroma.blue);
  }
}

}  // namespace saccade
