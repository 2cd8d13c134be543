#pragma once

#include <cstdint>
#include <vector>

#include "base/module.hpp"
#include "vision/drawer.hpp"

namespace saccade::test {

struct Rgb {
  int r, g, b;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};
inline constexpr Rgb kGray = {90, 90, 90};

/// A grey image with padding after each row, and the drawing on it.
class Page {
 public:
  Page(int width, int height)
      : width_(width), height_(height), bytes_(static_cast<std::size_t>((3 * width + kPadding) * height), 90) {}

  void draw(const Result& result) { module<DrawModule>("draw").make_drawer()->draw(result, view()); }
  RgbView view() { return {bytes_.data(), 3 * width_ + kPadding, width_, height_}; }
  Rgb at(int x, int y) const {
    const auto i = static_cast<std::size_t>(y * (3 * width_ + kPadding) + 3 * x);
    return {bytes_[i], bytes_[i + 1], bytes_[i + 2]};
  }
  int touched() const {
    int count = 0;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) count += at(x, y) == kGray ? 0 : 1;
    return count;
  }
  int width() const { return width_; }
  int height() const { return height_; }
  bool padding_is_untouched() const {
    for (int y = 0; y < height_; ++y)
      for (int i = 0; i < kPadding; ++i)
        if (bytes_[static_cast<std::size_t>(y * (3 * width_ + kPadding) + 3 * width_ + i)] != 90) return false;
    return true;
  }

 private:
  static constexpr int kPadding = 5;
  int width_;
  int height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace saccade::test
