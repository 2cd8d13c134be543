#include "validate/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/module.hpp"
#include "media/modules.hpp"
#include "scene/random.hpp"
#include "validate/rain.hpp"

namespace saccade {
namespace {

std::span<std::uint8_t> row_of(const RgbView& image, int y) {
  return {image.data + static_cast<std::ptrdiff_t>(y) * image.pitch_bytes, 3 * static_cast<std::size_t>(image.width)};
}

std::uint8_t grey_level(float value) { return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

/// Nearly normal numbers with mean 0 and standard deviation 1: sums of four uniform integers, identical on every
/// machine.
class Grain {
 public:
  explicit Grain(std::uint64_t seed) : random_(seed) {}

  float next() {
    const std::uint64_t bits = random_.next();
    std::int64_t sum = 0;
    for (unsigned shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>((bits >> shift) & 0xFFFFU);
    constexpr float kDeviation = 37837.227F;  // sqrt(4 / 12) * 65536
    return static_cast<float>(sum - std::int64_t{2} * 0xFFFF) / kDeviation;
  }

 private:
  scene::Random random_;
};

/// A tenth of the light with unchanged sensor noise: shot noise and read noise.
void darken(const RgbView& image, std::uint64_t seed) {
  constexpr float kLight = 0.1F;
  constexpr float kShot = 0.002F;   // variance per unit of light
  constexpr float kRead = 0.0001F;  // variance
  constexpr float kGamma = 2.2F;
  constexpr std::size_t kSteps = 4096;
  std::array<float, 256> light{};
  for (std::size_t i = 0; i < light.size(); ++i) light[i] = kLight * std::pow(static_cast<float>(i) / 255, kGamma);
  std::vector<std::uint8_t> developed(kSteps);
  for (std::size_t i = 0; i < kSteps; ++i)
    developed[i] = grey_level(255 * std::pow((static_cast<float>(i) + 0.5F) / kSteps, 1 / kGamma));
  Grain grain(seed);
  for (int y = 0; y < image.height; ++y) {
    for (std::uint8_t& sample : row_of(image, y)) {
      const float mean = light[sample];
      const float seen = mean + grain.next() * std::sqrt(kShot * mean + kRead);
      sample = developed[static_cast<std::size_t>(std::clamp(seen * kSteps, 0.0F, kSteps - 1.0F))];
    }
  }
}

/// Motion blur of a camera pan: every pixel is the mean of its horizontal neighbours.
void smear(const RgbView& image, std::uint64_t /*seed*/) {
  const int reach = std::max(1, std::max(image.width, image.height) / 128);
  std::vector<std::uint8_t> sharp;
  for (int y = 0; y < image.height; ++y) {
    const std::span<std::uint8_t> row = row_of(image, y);
    sharp.assign(row.begin(), row.end());
    for (int c = 0; c < 3; ++c) {
      const auto at = [&](int x) {
        const auto pixel = static_cast<std::size_t>(std::clamp(x, 0, image.width - 1));
        return static_cast<int>(sharp[3 * pixel + static_cast<std::size_t>(c)]);
      };
      int sum = 0;
      for (int x = -reach; x <= reach; ++x) sum += at(x);
      const int count = 2 * reach + 1;
      for (int x = 0; x < image.width; ++x) {
        row[3 * static_cast<std::size_t>(x) + static_cast<std::size_t>(c)] =
            static_cast<std::uint8_t>((sum + count / 2) / count);
        sum += at(x + reach + 1) - at(x - reach);
      }
    }
  }
}

void add_noise(const RgbView& image, std::uint64_t seed) {
  constexpr float kDeviation = 25;
  Grain grain(seed);
  for (int y = 0; y < image.height; ++y)
    for (std::uint8_t& sample : row_of(image, y))
      sample = grey_level(static_cast<float>(sample) + kDeviation * grain.next());
}

void compress(const RgbView& image, std::uint64_t /*seed*/) {
  constexpr int kQuality = 10;
  module<ImagesModule>("images").jpeg_roundtrip(image, kQuality);
}

void flatten(const RgbView& image, std::uint64_t /*seed*/) {
  constexpr float kContrast = 0.3F;
  std::int64_t sum = 0;
  for (int y = 0; y < image.height; ++y)
    for (const std::uint8_t sample : row_of(image, y)) sum += sample;
  const auto samples = 3 * static_cast<std::int64_t>(image.width) * image.height;
  const float mean = static_cast<float>(sum) / static_cast<float>(samples);
  for (int y = 0; y < image.height; ++y)
    for (std::uint8_t& sample : row_of(image, y))
      sample = grey_level(mean + kContrast * (static_cast<float>(sample) - mean));
}

constexpr std::array kConditions = {
    Condition{"night", "a tenth of the light, with sensor noise", darken},
    Condition{"blur", "motion along x: mean over 1/64 of the longer side", smear},
    Condition{"noise", "normal, standard deviation 25 grey levels", add_noise},
    Condition{"jpeg", "compressed at quality 10", compress},
    Condition{"low-contrast", "0.3 of the contrast around the image's mean", flatten},
    Condition{"rain", "mist, and a streak per 600 pixels", rain},
};

}  // namespace

std::span<const Condition> conditions() { return kConditions; }

const Condition& find_condition(const std::string& name) {
  const auto at = std::ranges::find(kConditions, name, &Condition::name);
  if (at != kConditions.end()) return *at;
  std::string known;
  for (const Condition& each : kConditions) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  fail(ErrorCode::kInvalidArgument, "there is no condition '{}'; the conditions are {}", name, known);
}

}  // namespace saccade
