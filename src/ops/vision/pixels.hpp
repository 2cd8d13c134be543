#pragma once

#include <array>
#include <optional>

#include "graph/attributes.hpp"
#include "saccade/region.hpp"
#include "tensor/frame.hpp"

// What every kernel of saccade.Preprocess shares: where a frame's pixels go, and the integer arithmetic on them, so
// that a fast kernel equals the reference bit for bit.
namespace saccade {

enum class ResizeMode : std::uint8_t {
  kStretch,           ///< to the tensor's size, whatever the aspect
  kLetterbox,         ///< as large as fits, centred between pads
  kLetterboxTopLeft,  ///< as large as fits, in the top left corner
  kResizeCrop,        ///< short side to resize_to, then the centre
};
enum class ChannelOrder : std::uint8_t { kRgb, kBgr, kGray };

/// saccade.Preprocess's attributes.
struct PreprocessSpec {
  int width = 0;  ///< of the tensor
  int height = 0;
  ResizeMode resize = ResizeMode::kStretch;
  int resize_to = 0;
  ChannelOrder color = ChannelOrder::kRgb;
  std::array<std::uint8_t, 3> pad{};    ///< in the tensor's channel order, before scale and bias
  std::array<float, 3> scale{1, 1, 1};  ///< tensor = pixel * scale[c] + bias[c], pixels being 0..255
  std::array<float, 3> bias{};
  std::optional<Region> roi;

  int channels() const { return color == ChannelOrder::kGray ? 1 : 3; }
};
/// Throws Error (kInvalidFile) naming the attribute that makes no sense. Allocates nothing.
PreprocessSpec preprocess_spec(const Attributes& attributes);

/// Which part of a frame lands where in the tensor.
struct Placement {
  Region source;       ///< of the frame: the roi, or what of it lies in the frame
  std::int64_t x = 0;  ///< of the scaled source's left edge in the tensor; negative where it is cropped
  std::int64_t y = 0;
  std::int64_t width = 0;  ///< of the scaled source
  std::int64_t height = 0;
};
/// Throws Error (kInvalidArgument) where the frame is empty or the roi lies outside of it.
Placement place(const PreprocessSpec& spec, int frame_width, int frame_height);

/// {scale_x, scale_y, offset_x, offset_y, frame width, frame height}: tensor_x = frame_x * scale_x + offset_x for the
/// edges of boxes.
std::array<float, 6> geometry_of(const Placement& placement, int frame_width, int frame_height) noexcept;

/// One colour component of a frame as its memory has it.
struct Component {
  const std::uint8_t* data = nullptr;
  int pitch = 0;   ///< bytes from row to row
  int step = 1;    ///< bytes from sample to sample
  int across = 1;  ///< pixels a sample, horizontally
  int down = 1;    ///< pixels a sample, vertically
};
enum class ColorModel : std::uint8_t { kRgb, kYuv, kGray };
struct Components {
  ColorModel model = ColorModel::kRgb;
  std::array<Component, 3> parts;  ///< R G B, Y U V, or one
  int count() const { return model == ColorModel::kGray ? 1 : 3; }
};
Components components_of(const FrameView& frame) noexcept;

/// Two neighbouring samples and their weights, which add up to 2048: bilinear interpolation along one axis.
struct Tap {
  int first = 0;
  int second = 0;
  int first_weight = 0;
  int second_weight = 0;
};
/// How tensor positions fall on a component's samples along one axis.
struct TapAxis {
  double scale = 1;   ///< samples a tensor pixel
  double first = 0;   ///< tensor position of the source's left edge
  double offset = 0;  ///< the source's left edge, in samples from BEGIN's
  int begin = 0;      ///< first and one past the last sample that may be read
  int end = 1;

  /// SOURCE samples [origin, origin + extent) of pixels, PER pixels a component's sample, scaled to TARGET at AT.
  static TapAxis of(int origin, int extent, int per, std::int64_t target, std::int64_t at) noexcept;
  Tap at(int position) const noexcept;
};

/// First and one past the last tensor position that the source covers along one axis.
struct Span {
  int begin = 0;
  int end = 0;
};
inline Span covered(std::int64_t at, std::int64_t extent, int size) noexcept {
  const auto clip = [size](std::int64_t v) { return static_cast<int>(v < 0 ? 0 : v > size ? size : v); };
  return {clip(at), clip(at + extent)};
}

/// Bilinear interpolation of four 8-bit samples with OpenCV's arithmetic (11-bit weights, the lower bits of the
/// horizontal sums cut, 0..255): models were trained on pixels made so, and a more exact rounding would differ by one
/// level in an eighth of them.
inline int blend_row(int first, int second, const Tap& tap) {
  return (first * tap.first_weight + second * tap.second_weight) >> 4;
}
inline int blend_rows(int upper, int lower, const Tap& tap) {
  return (((tap.first_weight * upper) >> 16) + ((tap.second_weight * lower) >> 16) + 2) >> 2;
}

/// Y'CbCr to R'G'B' in 1/65536; a pixel's R is clamp8(luma * (Y - black) + red_v * (V - 128)), and so on.
struct YuvMatrix {
  int black = 16;
  int luma = 0;
  int red_v = 0;
  int green_u = 0;
  int green_v = 0;
  int blue_u = 0;
};
YuvMatrix yuv_matrix(ColorMatrix matrix, ColorRange range) noexcept;
/// VALUE in 1/65536, rounded and brought to 0..255.
inline int clamp8(int value) {
  const int rounded = (value + 32768) >> 16;
  return rounded < 0 ? 0 : rounded > 255 ? 255 : rounded;
}
/// BT.601 luma of an RGB pixel, with OpenCV's arithmetic.
inline int luma_of(int red, int green, int blue) { return (red * 4899 + green * 9617 + blue * 1868 + 8192) >> 14; }

}  // namespace saccade
