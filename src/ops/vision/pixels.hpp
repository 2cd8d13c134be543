#pragma once

#include <array>
#include <optional>

#include "graph/attributes.hpp"
#include "saccade/region.hpp"
#include "tensor/frame.hpp"
#include "tensor/mosaic.hpp"

// Shared code of all kernels of saccade.Preprocess: the placement of a frame's pixels and the integer arithmetic on
// them, so that fast kernels are bit-identical to the reference.
namespace saccade {

enum class ResizeMode : std::uint8_t {
  kStretch,           ///< to the tensor's size, ignoring the aspect ratio
  kLetterbox,         ///< as large as fits, centred between padding
  kLetterboxTopLeft,  ///< as large as fits, in the top left corner
  kResizeCrop,        ///< short side to resize_to, then a centre crop
  kResizeCropFloor,   ///< the same, with the corner of the crop rounded down
};
constexpr bool is_crop(ResizeMode mode) {
  return mode == ResizeMode::kResizeCrop || mode == ResizeMode::kResizeCropFloor;
}
/// How a pixel of the tensor is computed from those of the frame.
enum class Interpolation : std::uint8_t {
  kBilinear,           ///< OpenCV's INTER_LINEAR: two samples per axis at every scale
  kBilinearAntialias,  ///< Pillow's BILINEAR: the filter widens with the scale
  kBicubic,            ///< OpenCV's INTER_CUBIC: four samples per axis at every scale
  kBicubicAntialias,   ///< Pillow's BICUBIC
  kArea,               ///< OpenCV's INTER_AREA
  kNearest,            ///< OpenCV's INTER_NEAREST
};
enum class ChannelOrder : std::uint8_t { kRgb, kBgr, kGray };

/// saccade.Preprocess's attributes.
struct PreprocessSpec {
  int width = 0;  ///< of the tensor
  int height = 0;
  ResizeMode resize = ResizeMode::kStretch;
  int resize_to = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  ChannelOrder color = ChannelOrder::kRgb;
  std::array<std::uint8_t, 3> pad{};    ///< in the tensor's channel order, before scale and bias
  std::array<float, 3> scale{1, 1, 1};  ///< tensor = pixel * scale[c] + bias[c], pixels being 0..255
  std::array<float, 3> bias{};
  std::optional<Region> roi;

  int channels() const { return color == ChannelOrder::kGray ? 1 : 3; }
};
/// Throws Error (kInvalidFile) naming the invalid attribute. Does not allocate.
PreprocessSpec preprocess_spec(const Attributes& attributes);

/// The part of a frame that is used, and its position in the tensor.
struct Placement {
  Region source;       ///< of the frame: the roi, or its part within the frame
  std::int64_t x = 0;  ///< left edge of the scaled source in the tensor; negative if it is cropped
  std::int64_t y = 0;
  std::int64_t width = 0;  ///< of the scaled source
  std::int64_t height = 0;
};
/// Throws Error (kInvalidArgument) if the frame is empty or the roi lies outside of it.
Placement place(const PreprocessSpec& spec, int frame_width, int frame_height);

/// {scale_x, scale_y, offset_x, offset_y, frame width, frame height}: tensor_x = frame_x * scale_x + offset_x for the
/// edges of boxes.
std::array<float, 6> geometry_of(const Placement& placement, int frame_width, int frame_height) noexcept;

/// One colour component of a frame in memory.
struct Component {
  const std::uint8_t* data = nullptr;
  int pitch = 0;   ///< bytes per row
  int step = 1;    ///< bytes per sample
  int across = 1;  ///< pixels per sample, horizontally
  int down = 1;    ///< pixels per sample, vertically
};
enum class ColorModel : std::uint8_t { kRgb, kYuv, kGray };
struct Components {
  ColorModel model = ColorModel::kRgb;
  std::array<Component, 3> parts;  ///< R G B, Y U V, or one
  std::optional<Mosaic> mosaic;    ///< makes the samples of R, G and B, of which the parts say the size alone
  int count() const { return model == ColorModel::kGray ? 1 : 3; }
};
Components components_of(const FrameView& frame) noexcept;

/// Two neighbouring samples and their weights, which sum to 2048: bilinear interpolation along one axis.
struct Tap {
  int first = 0;
  int second = 0;
  int first_weight = 0;
  int second_weight = 0;
};
/// The mapping from tensor positions to a component's samples along one axis.
struct TapAxis {
  double scale = 1;   ///< samples per tensor pixel
  double first = 0;   ///< tensor position of the source's left edge
  double offset = 0;  ///< left edge of the source, in samples relative to BEGIN's
  int begin = 0;      ///< range of readable samples, end exclusive
  int end = 1;

  /// Source pixels [ORIGIN, ORIGIN + EXTENT), PER pixels per sample of the component, scaled to TARGET at AT.
  static TapAxis of(int origin, int extent, int per, std::int64_t target, std::int64_t at) noexcept;
  Tap at(int position) const noexcept;
};

/// The tensor positions that the source covers along one axis, end exclusive.
struct Span {
  int begin = 0;
  int end = 0;
};
inline Span covered(std::int64_t at, std::int64_t extent, int size) noexcept {
  const auto clip = [size](std::int64_t v) { return static_cast<int>(v < 0 ? 0 : v > size ? size : v); };
  return {clip(at), clip(at + extent)};
}

/// Bilinear interpolation of four 8-bit samples with OpenCV's arithmetic (11-bit weights, truncated horizontal sums,
/// 0..255): models are trained on such pixels, and exact rounding would change an eighth of them by one level.
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
/// VALUE in 1/65536, rounded and clamped to 0..255.
inline int clamp8(int value) {
  const int rounded = (value + 32768) >> 16;
  return rounded < 0 ? 0 : rounded > 255 ? 255 : rounded;
}
/// BT.601 luma of an RGB pixel, with OpenCV's arithmetic.
inline int luma_of(int red, int green, int blue) { return (red * 4899 + green * 9617 + blue * 1868 + 8192) >> 14; }

}  // namespace saccade
