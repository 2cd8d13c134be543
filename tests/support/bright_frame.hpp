#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade::test {

/// A grey frame of any format with white rectangles.
class BrightFrame {
 public:
  BrightFrame(PixelFormat format, int width, int height)
      : memory_(frame_bytes(format, width, height), std::byte{128}),
        view_(lay_out({memory_.data(), memory_.size()}, format, width, height)) {
    fill({0, 0, width, height}, 16);
  }

  /// Valid as long as the frame, also where it moves.
  const FrameView& view() const { return view_; }

  void fill(const Region& region, std::uint8_t luma) {
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x) {
        std::uint8_t* row = const_cast<std::uint8_t*>(view_.planes[0]) + y * view_.pitch_bytes[0];
        switch (view_.format) {
          case PixelFormat::kRgb24:
          case PixelFormat::kBgr24: std::fill_n(row + 3 * x, 3, luma); break;
          case PixelFormat::kYuyv: row[2 * x] = luma; break;
          case PixelFormat::kUyvy: row[2 * x + 1] = luma; break;
          default: row[x] = luma;
        }
      }
  }

 private:
  std::vector<std::byte> memory_;
  FrameView view_;
};

}  // namespace saccade::test
