#include <algorithm>

#include "ops/core/op.hpp"
#include "ops/vision/pixels.hpp"

// saccade.Preprocess: converts a frame's pixels to a model's input tensor in one pass: crop, resize (bilinear), colour
// conversion, channel order, scale and bias.
//
// Input 0: a frame.  Outputs: 0 float32 [1, C, height, width]; 1 (optional) "geometry" float32 [6], see geometry_of().
// Attributes: width, height; resize, resize_to; color; pad (3 of 0..255, the tensor's channel order); scale, bias (3
// each); roi (x, y, width, height).
//
// Samples are interpolated in the frame's own format (8 bits, OpenCV's arithmetic, see pixels.hpp) and converted
// afterwards: once per pixel, not once per tap.
namespace saccade {
namespace {

void infer_preprocess(InferContext& context) {
  if (context.dtype(0) != DType::kFrame)
    fail(ErrorCode::kInvalidFile, "the input is {}, not a frame", to_string(context.dtype(0)));
  const PreprocessSpec spec = preprocess_spec(context.attributes());
  context.output(0, DType::kFloat32, {1, spec.channels(), spec.height, spec.width});
  if (context.output_count() > 1) context.output(1, DType::kFloat32, {6});
}

int sample(const Component& part, const Tap& across, const Tap& down) {
  const auto row = [&](int y) {
    const std::uint8_t* line = part.data + static_cast<std::ptrdiff_t>(y) * part.pitch;
    const auto at = [&](int x) { return line[static_cast<std::ptrdiff_t>(x) * part.step]; };
    return blend_row(at(across.first), at(across.second), across);
  };
  return blend_rows(row(down.first), row(down.second), down);
}

/// Converts a pixel of three interpolated components to R, G, B.
std::array<int, 3> to_rgb(ColorModel model, const YuvMatrix& yuv, const std::array<int, 3>& value) {
  if (model == ColorModel::kGray) return {value[0], value[0], value[0]};
  if (model == ColorModel::kRgb) return value;
  const int luma = yuv.luma * (value[0] - yuv.black);
  const int u = value[1] - 128;
  const int v = value[2] - 128;
  return {clamp8(luma + yuv.red_v * v), clamp8(luma + yuv.green_u * u + yuv.green_v * v),
          clamp8(luma + yuv.blue_u * u)};
}

std::array<int, 3> ordered(const std::array<int, 3>& rgb, ColorModel model, ChannelOrder order) {
  if (order == ChannelOrder::kRgb) return rgb;
  if (order == ChannelOrder::kBgr) return {rgb[2], rgb[1], rgb[0]};
  return {model == ColorModel::kGray ? rgb[0] : luma_of(rgb[0], rgb[1], rgb[2])};
}

void reference_preprocess(const KernelContext& context) {
  const PreprocessSpec spec = preprocess_spec(context.attributes());
  const auto& frame = *static_cast<const FrameView*>(context.input(0).data);
  const Placement placed = place(spec, frame.width, frame.height);
  const Components components = components_of(frame);
  const YuvMatrix yuv = yuv_matrix(frame.matrix, frame.range);
  const Span rows = covered(placed.y, placed.height, spec.height);
  const Span columns = covered(placed.x, placed.width, spec.width);
  const std::span<float> pixels = context.out<float>();
  std::array<TapAxis, 3> across;
  std::array<TapAxis, 3> down;
  for (std::size_t i = 0; i < 3; ++i) {
    const Component& part = components.parts[i];
    across[i] = TapAxis::of(placed.source.x, placed.source.width, part.across, placed.width, placed.x);
    down[i] = TapAxis::of(placed.source.y, placed.source.height, part.down, placed.height, placed.y);
  }
  for (int y = 0; y < spec.height; ++y) {
    for (int x = 0; x < spec.width; ++x) {
      std::array<int, 3> value{spec.pad[0], spec.pad[1], spec.pad[2]};
      if (y >= rows.begin && y < rows.end && x >= columns.begin && x < columns.end) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(components.count()); ++i)
          value[i] = sample(components.parts[i], across[i].at(x), down[i].at(y));
        value = ordered(to_rgb(components.model, yuv, value), components.model, spec.color);
      }
      for (std::size_t c = 0; c < static_cast<std::size_t>(spec.channels()); ++c)
        pixels[(c * static_cast<std::size_t>(spec.height) + static_cast<std::size_t>(y)) *
                   static_cast<std::size_t>(spec.width) +
               static_cast<std::size_t>(x)] = static_cast<float>(value[c]) * spec.scale[c] + spec.bias[c];
    }
  }
  if (context.wants(1))
    std::ranges::copy(geometry_of(placed, frame.width, frame.height), context.out<float>(1).begin());
}

constexpr Op kPreprocessOps[] = {
    {"saccade", "Preprocess", infer_preprocess, reference_preprocess, {.cost = {.operations = 2}}}};

}  // namespace

std::span<const Op> preprocess_ops() { return kPreprocessOps; }

}  // namespace saccade
