#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

#include "saccade/tensor.hpp"
#include "tensor/frame.hpp"

namespace saccade::test {

inline constexpr auto kMosaics = std::to_array<PixelFormat>(
    {PixelFormat::kBayerRggb8, PixelFormat::kBayerGrbg8, PixelFormat::kBayerGbrg8, PixelFormat::kBayerBggr8});

/// Memory between two pages that can't be read: BYTES from the first one on, or up to the last one.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes + page - 1) / page * page;
    mapped_ = inside + 2 * page;
    begin_ = static_cast<std::uint8_t*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin_ + page, inside, PROT_READ | PROT_WRITE);
    data_ = begin_ + page + (at_end ? inside - bytes : 0);
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(begin_, mapped_); }
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::size_t mapped_ = 0;
};

/// A mosaic of noise. A sample read outside of it ends the test or, between the rows, is POISON.
class MosaicFrame {
 public:
  MosaicFrame(PixelFormat format, int width, int height, bool at_end = true, int padding = 0, std::uint8_t poison = 0)
      : bytes_(static_cast<std::size_t>((width + padding) * (height - 1) + width), at_end) {
    view_ = {.format = format, .width = width, .height = height, .planes = {bytes_.data()}};
    view_.pitch_bytes[0] = width + padding;
    std::mt19937 random(static_cast<std::uint32_t>(31 * width + height));
    for (int y = 0; y < height; ++y) {
      std::uint8_t* row = bytes_.data() + y * view_.pitch_bytes[0];
      for (int x = 0; x < width; ++x) row[x] = static_cast<std::uint8_t>(random());
      if (y + 1 < height) std::memset(row + width, poison, static_cast<std::size_t>(padding));
    }
  }
  const FrameView& view() const { return view_; }
  Tensor tensor() const {
    Tensor frame(DType::kFrame, {});
    std::memcpy(frame.raw(), &view_, sizeof view_);
    return frame;
  }

 private:
  GuardedBytes bytes_;
  FrameView view_;
};

/// The colour of FORMAT's sample at X, Y, by the format's name: 0 red, 1 green, 2 blue.
inline int mosaic_color(PixelFormat format, int x, int y) {
  const char letter = to_string(format).substr(6, 4)[static_cast<std::size_t>(2 * (y & 1) + (x & 1))];
  return letter == 'r' ? 0 : letter == 'g' ? 1 : 2;
}

/// The RGB of a mosaic, by its definition: a missing colour is the rounded mean of its samples among the eight around.
inline std::vector<std::uint8_t> mosaic_rgb(const FrameView& frame) {
  const auto mirror = [](int i, int count) { return count == 1 ? 0 : i < 0 ? 1 : i == count ? count - 2 : i; };
  const auto sample = [&](int x, int y) {
    return frame.planes[0][mirror(y, frame.height) * frame.pitch_bytes[0] + mirror(x, frame.width)];
  };
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < frame.height; ++y)
    for (int x = 0; x < frame.width; ++x)
      for (int color = 0; color < 3; ++color) {
        int sum = 0;
        int count = 0;
        for (int down = -1; down <= 1; ++down)
          for (int across = -1; across <= 1; ++across) {
            if (mosaic_color(frame.format, x + across, y + down) != color) continue;
            sum += sample(x + across, y + down);
            ++count;
          }
        const bool is_own = mosaic_color(frame.format, x, y) == color;
        rgb.push_back(is_own ? sample(x, y) : static_cast<std::uint8_t>((sum + count / 2) / count));
      }
  return rgb;
}

}  // namespace saccade::test
