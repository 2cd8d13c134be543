#include "media/convert.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/error.hpp"
#include "tensor/mosaic.hpp"

namespace saccade {
namespace {

constexpr int kOne = 1 << 16;  // coefficients are fixed point
constexpr int kHalf = kOne / 2;

/// R = luma*(Y-black) + red_v*(V-128), and so on.
struct YuvToRgb {
  int black = 0;
  int luma = 0;
  int red_v = 0;
  int green_u = 0;
  int green_v = 0;
  int blue_u = 0;
};

/// The weights of red and blue in luma.
std::array<double, 2> luma_weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt601: return {0.299, 0.114};
    case ColorMatrix::kBt709: return {0.2126, 0.0722};
    case ColorMatrix::kBt2020: return {0.2627, 0.0593};
  }
  fail(ErrorCode::kInternal, "colour matrix {} is not known", static_cast<int>(matrix));
}

YuvToRgb coefficients(ColorMatrix matrix, ColorRange range) {
  const auto [red, blue] = luma_weights(matrix);
  const double green = 1 - red - blue;
  const bool full = range == ColorRange::kFull;
  const double luma = full ? 1.0 : 255.0 / 219.0;
  const double chroma = full ? 1.0 : 255.0 / 224.0;
  const auto fixed = [](double value) { return static_cast<int>(std::lround(value * kOne)); };
  return {.black = full ? 0 : 16,
          .luma = fixed(luma),
          .red_v = fixed(chroma * 2 * (1 - red)),
          .green_u = fixed(-chroma * 2 * (1 - blue) * blue / green),
          .green_v = fixed(-chroma * 2 * (1 - red) * red / green),
          .blue_u = fixed(chroma * 2 * (1 - blue))};
}

std::uint8_t clamp(int fixed) { return static_cast<std::uint8_t>(std::clamp(fixed >> 16, 0, 255)); }

/// Converts one row whose chroma samples are kChromaStep bytes apart and cover 2^kShared pixels each.
template <int kLumaStep, int kChromaStep, int kShared>
void convert_row(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width, const YuvToRgb& k,
                 std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x) {
    const int luma = (y[x * kLumaStep] - k.black) * k.luma + kHalf;
    const int cu = u[(x >> kShared) * kChromaStep] - 128;
    const int cv = v[(x >> kShared) * kChromaStep] - 128;
    rgb[3 * x + 0] = clamp(luma + cv * k.red_v);
    rgb[3 * x + 1] = clamp(luma + cu * k.green_u + cv * k.green_v);
    rgb[3 * x + 2] = clamp(luma + cu * k.blue_u);
  }
}

void convert_gray_row(const std::uint8_t* y, int width, const YuvToRgb& k, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x) {
    const std::uint8_t value = clamp((y[x] - k.black) * k.luma + kHalf);
    std::fill_n(rgb + 3 * static_cast<std::ptrdiff_t>(x), 3, value);
  }
}

void swap_row(const std::uint8_t* bgr, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x) {
    rgb[3 * x + 0] = bgr[3 * x + 2];
    rgb[3 * x + 1] = bgr[3 * x + 1];
    rgb[3 * x + 2] = bgr[3 * x + 0];
  }
}

void convert_mosaic_row(const MosaicRow& rows, std::uint8_t* rgb) {
  const int own = rows.is_red ? 0 : 2;
  for (int x = 0; x < rows.width; ++x) {
    const MosaicPixel pixel = demosaiced(rows, x);
    rgb[3 * x + own] = pixel.own;
    rgb[3 * x + 1] = pixel.green;
    rgb[3 * x + 2 - own] = pixel.other;
  }
}

const std::uint8_t* row_of(const FrameView& view, std::size_t plane, int row) {
  return view.planes[plane] + static_cast<std::ptrdiff_t>(row) * view.pitch_bytes[plane];
}

void convert_row(const FrameView& src, int y, const YuvToRgb& k, std::uint8_t* rgb) {
  const std::uint8_t* first = row_of(src, 0, y);
  const auto chroma = [&](std::size_t plane, int row) { return row_of(src, plane, row); };
  switch (src.format) {
    case PixelFormat::kRgb24: std::memcpy(rgb, first, 3 * static_cast<std::size_t>(src.width)); return;
    case PixelFormat::kBgr24: return swap_row(first, src.width, rgb);
    case PixelFormat::kGray8: return convert_gray_row(first, src.width, k, rgb);
    case PixelFormat::kI420: return convert_row<1, 1, 1>(first, chroma(1, y / 2), chroma(2, y / 2), src.width, k, rgb);
    case PixelFormat::kI422: return convert_row<1, 1, 1>(first, chroma(1, y), chroma(2, y), src.width, k, rgb);
    case PixelFormat::kI444: return convert_row<1, 1, 0>(first, chroma(1, y), chroma(2, y), src.width, k, rgb);
    case PixelFormat::kNv12:
      return convert_row<1, 2, 1>(first, chroma(1, y / 2), chroma(1, y / 2) + 1, src.width, k, rgb);
    case PixelFormat::kYuyv: return convert_row<2, 4, 1>(first, first + 1, first + 3, src.width, k, rgb);
    case PixelFormat::kUyvy: return convert_row<2, 4, 1>(first + 1, first, first + 2, src.width, k, rgb);
    case PixelFormat::kBayerRggb8:
    case PixelFormat::kBayerGrbg8:
    case PixelFormat::kBayerGbrg8:
    case PixelFormat::kBayerBggr8: return convert_mosaic_row(mosaic_of(src).row(y), rgb);
  }
}

/// RGB to YUV by BT.601, limited range: 65536 * weight * 219/255, and * 224/255 for chroma.
struct Weights {
  int r, g, b;
};
constexpr Weights kLuma = {16829, 33039, 6416};
constexpr Weights kBlueness = {-9714, -19070, 28784};
constexpr Weights kRedness = {28784, -24103, -4681};

void luma_row(const std::uint8_t* rgb, int width, std::uint8_t* y) {
  for (int x = 0; x < width; ++x) {
    const std::uint8_t* p = rgb + 3 * static_cast<std::ptrdiff_t>(x);
    y[x] = static_cast<std::uint8_t>((kLuma.r * p[0] + kLuma.g * p[1] + kLuma.b * p[2] + 16 * kOne + kHalf) >> 16);
  }
}

std::uint8_t chroma(const Weights& w, int r, int g, int b) {
  // The sum of four pixels needs two more bits.
  return static_cast<std::uint8_t>((w.r * r + w.g * g + w.b * b + 4 * (128 * kOne + kHalf)) >> 18);
}

void chroma_row(const std::uint8_t* top, const std::uint8_t* bottom, int width, std::uint8_t* u, std::uint8_t* v) {
  for (int x = 0; x < width; x += 2) {
    const std::ptrdiff_t left = 3 * static_cast<std::ptrdiff_t>(x);
    const std::ptrdiff_t right = x + 1 < width ? left + 3 : left;
    const auto sum = [&](int c) { return top[left + c] + top[right + c] + bottom[left + c] + bottom[right + c]; };
    const int r = sum(0);
    const int g = sum(1);
    const int b = sum(2);
    u[x / 2] = chroma(kBlueness, r, g, b);
    v[x / 2] = chroma(kRedness, r, g, b);
  }
}

}  // namespace

void to_rgb(const FrameView& src, const RgbView& dst) {
  SACCADE_ASSERT(src.width == dst.width && src.height == dst.height);
  const YuvToRgb k = coefficients(src.matrix, src.range);
  for (int y = 0; y < src.height; ++y)
    convert_row(src, y, k, dst.data + static_cast<std::ptrdiff_t>(y) * dst.pitch_bytes);
}

void to_i420(const FrameView& rgb, const I420View& dst) {
  SACCADE_ASSERT(rgb.format == PixelFormat::kRgb24 && dst.width - rgb.width < 2 && dst.height - rgb.height < 2);
  for (int y = 0; y < dst.height; ++y) {
    const std::uint8_t* from = row_of(rgb, 0, std::min(y, rgb.height - 1));
    std::uint8_t* luma = dst.planes[0] + static_cast<std::ptrdiff_t>(y) * dst.pitch_bytes[0];
    luma_row(from, rgb.width, luma);
    if (dst.width > rgb.width) luma[rgb.width] = luma[rgb.width - 1];
    if (y % 2 != 0) continue;
    chroma_row(from, row_of(rgb, 0, std::min(y + 1, rgb.height - 1)), rgb.width,
               dst.planes[1] + static_cast<std::ptrdiff_t>(y / 2) * dst.pitch_bytes[1],
               dst.planes[2] + static_cast<std::ptrdiff_t>(y / 2) * dst.pitch_bytes[2]);
  }
}

}  // namespace saccade
