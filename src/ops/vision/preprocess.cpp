#include <algorithm>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"
#include "ops/vision/pixel_filter.hpp"
#include "ops/vision/pixels.hpp"

// saccade.Preprocess: converts a frame's pixels to a model's input tensor in one pass: crop, resize, colour conversion,
// channel order, scale and bias.
//
// Input 0: a frame.  Outputs: 0 [1, C, height, width]; 1 (optional) "geometry" float32 [6], see geometry_of().
// Attributes: width, height; resize, resize_to; interpolation; color; pad (3 of 0..255, the tensor's channel order);
// scale, bias (3 each); roi (x, y, width, height); to: the element type of output 0, as Cast's (float32).
//
// Samples are interpolated in the frame's own format and converted afterwards: once per pixel, not once per tap. Those
// of a Bayer mosaic become RGB first (tensor/mosaic.hpp).
// Bilinear interpolation has OpenCV's 8-bit arithmetic (pixels.hpp), the other forms use tables (pixel_filter.hpp).
namespace saccade {
namespace {

DType made_type(const Attributes& attributes) {
  return dtype_of_onnx(attributes.integer("to", onnx_of_dtype(DType::kFloat32)));
}

void infer_preprocess(InferContext& context) {
  if (context.dtype(0) != DType::kFrame)
    fail(ErrorCode::kInvalidFile, "the input is {}, not a frame", to_string(context.dtype(0)));
  const PreprocessSpec spec = preprocess_spec(context.attributes());
  const DType made = made_type(context.attributes());
  if (!is_float(made))
    fail(ErrorCode::kInvalidFile, "its pixels would be {}, not floating-point numbers", to_string(made));
  context.output(0, made, {1, spec.channels(), spec.height, spec.width});
  if (context.output_count() > 1) context.output(1, DType::kFloat32, {6});
}

/// Interpolates each component of a frame.
class Sampler {
 public:
  Sampler(const PreprocessSpec& spec, const Placement& placed, const Components& components)
      : components_(components),
        columns_(covered(placed.x, placed.width, spec.width)),
        rows_(covered(placed.y, placed.height, spec.height)),
        tables_(uses_tables(spec.interpolation)),
        arithmetic_(filter_arithmetic(spec.interpolation)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(components.count()); ++i) {
      const Component& part = components.parts[i];
      across_[i] = TapAxis::of(placed.source.x, placed.source.width, part.across, placed.width, placed.x);
      down_[i] = TapAxis::of(placed.source.y, placed.source.height, part.down, placed.height, placed.y);
      if (tables_) filters_[i].build(spec, placed, part);
    }
  }

  bool covers(int x, int y) const {
    return y >= rows_.begin && y < rows_.end && x >= columns_.begin && x < columns_.end;
  }
  int at(std::size_t i, int x, int y) const {
    if (!tables_) return blended(i, across_[i].at(x), down_[i].at(y));
    return filtered(i, filters_[i], x - columns_.begin, y - rows_.begin);
  }

 private:
  /// A sample of the frame.
  int sample(std::size_t i, int x, int y) const {
    if (components_.mosaic) return components_.mosaic->rgb(x, y)[i];
    const Component& part = components_.parts[i];
    return part.data[static_cast<std::ptrdiff_t>(y) * part.pitch + static_cast<std::ptrdiff_t>(x) * part.step];
  }

  int blended(std::size_t i, const Tap& across, const Tap& down) const {
    const auto row = [&](int y) { return blend_row(sample(i, across.first, y), sample(i, across.second, y), across); };
    return blend_rows(row(down.first), row(down.second), down);
  }

  int filtered(std::size_t i, const ComponentFilter& filter, int x, int y) const {
    const FilterTable& down = filter.down;
    const FilterTable& across = filter.across;
    int sum = 0;
    for (int k = 0; k < down.taps(); ++k) {
      const int row = filter.top + down.first()[static_cast<std::size_t>(y)] + k;
      const int first = filter.begin + across.first()[static_cast<std::size_t>(x)];
      int along = 0;
      for (int tap = 0; tap < across.taps(); ++tap) along += sample(i, first + tap, row) * across.weights(x)[tap];
      sum += arithmetic_.after_across(along) * down.weights(y)[k];
    }
    return arithmetic_.after_down(sum);
  }

  const Components& components_;
  Span columns_;
  Span rows_;
  bool tables_;
  FilterArithmetic arithmetic_;
  std::array<TapAxis, 3> across_;
  std::array<TapAxis, 3> down_;
  std::array<ComponentFilter, 3> filters_;
};

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

template <typename T>
void make_pixels(const KernelContext& context, std::span<T> pixels) {
  const PreprocessSpec spec = preprocess_spec(context.attributes());
  const auto& frame = *static_cast<const FrameView*>(context.input(0).data);
  const Placement placed = place(spec, frame.width, frame.height);
  const Components components = components_of(frame);
  const YuvMatrix yuv = yuv_matrix(frame.matrix, frame.range);
  const Sampler sampler(spec, placed, components);
  for (int y = 0; y < spec.height; ++y) {
    for (int x = 0; x < spec.width; ++x) {
      std::array<int, 3> value{spec.pad[0], spec.pad[1], spec.pad[2]};
      if (sampler.covers(x, y)) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(components.count()); ++i) value[i] = sampler.at(i, x, y);
        value = ordered(to_rgb(components.model, yuv, value), components.model, spec.color);
      }
      for (std::size_t c = 0; c < static_cast<std::size_t>(spec.channels()); ++c)
        pixels[(c * static_cast<std::size_t>(spec.height) + static_cast<std::size_t>(y)) *
                   static_cast<std::size_t>(spec.width) +
               static_cast<std::size_t>(x)] = T(static_cast<float>(value[c]) * spec.scale[c] + spec.bias[c]);
    }
  }
  if (context.wants(1))
    std::ranges::copy(geometry_of(placed, frame.width, frame.height), context.out<float>(1).begin());
}

void reference_preprocess(const KernelContext& context) {
  with_float(context.output(0).dtype,
             [&]<typename T>(std::type_identity<T>) { make_pixels<T>(context, context.out<T>()); });
}

constexpr Op kPreprocessOps[] = {
    {"saccade", "Preprocess", infer_preprocess, reference_preprocess, {.cost = {.operations = 2}}}};

}  // namespace

std::span<const Op> preprocess_ops() { return kPreprocessOps; }

}  // namespace saccade
