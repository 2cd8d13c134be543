#include "scene/exposure.hpp"

#include <span>

#include "scene/random.hpp"

namespace saccade::scene {
namespace {

constexpr std::size_t kGrains = 32768;
constexpr int kMostTaps = 12;

/// Sample positions along a motion-blur streak: COUNT, symmetric about the middle of the exposure.
struct Taps {
  int count = 1;
  std::array<int, kMostTaps> x{};
  std::array<int, kMostTaps> y{};
};

int rounded(float value) { return static_cast<int>(std::floor(value + 0.5F)); }

Taps taps_along(const Streak& streak, int width, int height) {
  const float length = std::max(std::abs(streak.x), std::abs(streak.y));
  Taps taps;
  taps.count = std::clamp(static_cast<int>(length) + 1, 1, kMostTaps);
  for (int i = 0; i < taps.count && taps.count > 1; ++i) {
    const float share = static_cast<float>(i) / static_cast<float>(taps.count - 1) - 0.5F;
    taps.x[static_cast<std::size_t>(i)] = std::clamp(rounded(share * streak.x), 1 - width, width - 1);
    taps.y[static_cast<std::size_t>(i)] = std::clamp(rounded(share * streak.y), 1 - height, height - 1);
  }
  return taps;
}

/// Adds FROM, shifted by SHIFT pixels, to SUMS; edge pixels are repeated.
void add_row(std::span<const std::uint16_t> from, int shift, std::span<std::uint32_t> sums) {
  const std::size_t apart = 3 * static_cast<std::size_t>(std::abs(shift));
  const std::size_t kept = from.size() - apart;
  const std::uint16_t* light = from.data() + (shift > 0 ? apart : 0);
  std::uint32_t* sum = sums.data() + (shift < 0 ? apart : 0);
  for (std::size_t k = 0; k < kept; ++k) sum[k] += light[k];
  std::uint32_t* beyond = sums.data() + (shift < 0 ? 0 : kept);
  const std::uint16_t* last = from.data() + (shift < 0 ? 0 : from.size() - 3);
  for (std::size_t k = 0; k < apart; k += 3)
    for (std::size_t c = 0; c < 3; ++c) beyond[k + c] += last[c];
}

/// Exchanges a quarter of the light of two neighbouring pixels.
void blend(std::uint16_t* a, std::uint16_t* b) {
  for (int c = 0; c < 3; ++c) {
    const int low = a[c];
    const int high = b[c];
    a[c] = static_cast<std::uint16_t>((3 * low + high + 2) / 4);
    b[c] = static_cast<std::uint16_t>((low + 3 * high + 2) / 4);
  }
}

}  // namespace

Exposure::Exposure(int width, int height, std::uint64_t seed)
    : sums_(static_cast<std::size_t>(width) * 3),
      copy_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3 + 1),
      seed_(mix(seed, 0x6041)) {
  const auto falloff = [](int at, int size) {
    const float off = (static_cast<float>(at) + 0.5F) / static_cast<float>(size) * 2 - 1;
    return 1 - 0.2F * off * off;
  };
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < 3; ++c) corner_x_.push_back(falloff(x, width));
  for (int y = 0; y < height; ++y) corner_y_.push_back(falloff(y, height));
  // The sum of twelve uniform variables has a standard deviation of one.
  Random random(seed_, 1);
  for (std::size_t i = 0; i < kGrains; ++i) {
    float sum = -6;
    for (int draw = 0; draw < 12; ++draw) sum += random.unit();
    grains_.push_back(static_cast<std::int16_t>(sum * 256));
  }
}

void Exposure::soften(Canvas& canvas) {
  const auto wide = static_cast<std::size_t>(canvas.width);
  for (int y = 0; y < canvas.height; ++y) {
    const std::uint16_t* row = &canvas.instance[static_cast<std::size_t>(y) * wide];
    std::uint16_t* colour = &canvas.colour[3 * static_cast<std::size_t>(y) * wide];
    for (std::size_t x = 1; x < wide; ++x)
      if (row[x] != row[x - 1]) blend(colour + 3 * (x - 1), colour + 3 * x);
    if (y == 0) continue;
    for (std::size_t x = 0; x < wide; ++x)
      if (row[x] != (row - wide)[x]) blend(colour - 3 * wide + 3 * x, colour + 3 * x);
  }
}

void Exposure::smear(Canvas& canvas, const Streak& streak) {
  const Taps taps = taps_along(streak, canvas.width, canvas.height);
  if (taps.count < 2) return;
  const std::size_t row = static_cast<std::size_t>(canvas.width) * 3;
  const float share = 1.0F / static_cast<float>(taps.count);
  for (int y = 0; y < canvas.height; ++y) {
    std::fill(sums_.begin(), sums_.end(), 0U);
    for (int i = 0; i < taps.count; ++i) {
      const int from_y = std::clamp(y + taps.y[static_cast<std::size_t>(i)], 0, canvas.height - 1);
      add_row({&canvas.colour[static_cast<std::size_t>(from_y) * row], row}, taps.x[static_cast<std::size_t>(i)],
              sums_);
    }
    std::uint16_t* to = &copy_[static_cast<std::size_t>(y) * row];
    for (std::size_t k = 0; k < row; ++k)
      to[k] = static_cast<std::uint16_t>(static_cast<int>(static_cast<float>(static_cast<int>(sums_[k])) * share));
  }
  canvas.colour.swap(copy_);
}

void Exposure::smear_instance(Canvas& canvas, int index, const Streak& streak, int left, int top, int right,
                              int bottom) {
  const Taps taps = taps_along(streak, canvas.width, canvas.height);
  if (taps.count < 2) return;
  const int reach_x = rounded(0.5F * std::abs(streak.x)) + 1;
  const int reach_y = rounded(0.5F * std::abs(streak.y)) + 1;
  left = std::max(0, left - reach_x);
  right = std::min(canvas.width, right + reach_x);
  top = std::max(0, top - reach_y);
  bottom = std::min(canvas.height, bottom + reach_y);
  const auto wide = static_cast<std::size_t>(canvas.width);
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const std::size_t here = static_cast<std::size_t>(y) * wide + static_cast<std::size_t>(x);
      // Pixels that the object does not cross are unchanged; next to it, the static background shows through.
      const bool is_inside = canvas.instance[here] == index;
      bool shows = is_inside;
      std::array<int, 3> sum{};
      for (int i = 0; i < taps.count; ++i) {
        const int from_x = std::clamp(x + taps.x[static_cast<std::size_t>(i)], 0, canvas.width - 1);
        const int from_y = std::clamp(y + taps.y[static_cast<std::size_t>(i)], 0, canvas.height - 1);
        const std::size_t there = static_cast<std::size_t>(from_y) * wide + static_cast<std::size_t>(from_x);
        const bool is_object = canvas.instance[there] == index;
        shows |= is_object;
        const std::uint16_t* light = &canvas.colour[3 * (is_object || is_inside ? there : here)];
        for (std::size_t c = 0; c < 3; ++c) sum[c] += light[c];
      }
      for (std::size_t c = 0; c < 3; ++c)
        copy_[3 * here + c] = shows ? static_cast<std::uint16_t>(sum[c] / taps.count) : canvas.colour[3 * here + c];
    }
  for (int y = top; y < bottom && left < right; ++y) {
    const std::size_t at = 3 * (static_cast<std::size_t>(y) * wide + static_cast<std::size_t>(left));
    std::copy_n(copy_.begin() + static_cast<std::ptrdiff_t>(at), 3 * (right - left),
                canvas.colour.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

/// The display's gamma is approximated by a square root, so that shot noise, which grows with the root of the signal,
/// is equal at every grey level: one table serves shot and read noise.
void Exposure::develop(const Canvas& canvas, std::int64_t frame, float noise, const RgbView& out) const {
  const std::size_t row = static_cast<std::size_t>(canvas.width) * 3;
  const float grain = noise / 256;
  for (int y = 0; y < canvas.height; ++y) {
    const float through = corner_y_[static_cast<std::size_t>(y)] * (255.0F * 255.0F / kOne);
    const std::uint16_t* light = &canvas.colour[static_cast<std::size_t>(y) * row];
    std::uint8_t* pixel = out.data + static_cast<std::ptrdiff_t>(y) * out.pitch_bytes;
    const std::uint64_t draw = mix(seed_ + static_cast<std::uint64_t>(frame), static_cast<std::uint64_t>(y));
    std::size_t at = draw % kGrains;
    for (std::size_t k = 0; k < row;) {
      const std::size_t count = std::min(row - k, kGrains - at);
      const std::int16_t* grains = &grains_[at];
      const std::uint16_t* from = light + k;
      const float* corner = &corner_x_[k];
      std::uint8_t* to = pixel + k;
      for (std::size_t i = 0; i < count; ++i) {
        const float level = std::sqrt(static_cast<float>(from[i]) * (corner[i] * through));
        const float grey = level + static_cast<float>(grains[i]) * grain + 0.5F;
        to[i] = static_cast<std::uint8_t>(static_cast<int>(std::min(std::max(grey, 0.0F), 255.0F)));
      }
      k += count;
      at = 0;
    }
  }
}

}  // namespace saccade::scene
