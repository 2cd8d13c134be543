#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// GridSample: input X (N, C, spatial), grid (N, output's spatial, coordinates: the last axis first, -1..1 across the
// input). Two or three spatial axes. Accumulated in float32 for float32 and half precision, else in float64.
namespace saccade {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

Mode mode_of(const Attributes& attributes) {
  const std::string mode = attributes.text("mode", "linear");
  if (mode == "nearest") return Mode::kNearest;
  if (mode == "linear" || mode == "bilinear") return Mode::kLinear;
  if (mode == "cubic" || mode == "bicubic") return Mode::kCubic;
  fail(ErrorCode::kInvalidFile, "GridSample does not know the mode '{}'", mode);
}

Padding padding_of(const Attributes& attributes) {
  const std::string mode = attributes.text("padding_mode", "zeros");
  if (mode == "zeros") return Padding::kZeros;
  if (mode == "border") return Padding::kBorder;
  if (mode == "reflection") return Padding::kReflection;
  fail(ErrorCode::kInvalidFile, "GridSample does not know the padding_mode '{}'", mode);
}

void infer_grid_sample(InferContext& context) {
  if (!is_number(context.dtype(0))) require_type<bool>(context.dtype(0), "an input");
  require_type<float, double, Float16, BFloat16>(context.dtype(1), "a grid");
  const Shape& input = context.shape(0);
  const Shape& grid = context.shape(1);
  const int axes = input.rank() - 2;
  if (axes != 2 && axes != 3)
    fail(ErrorCode::kUnsupported, "GridSample of an input of shape {} is not supported; it takes 2 or 3 spatial axes",
         input.to_string());
  if (grid.rank() != input.rank() || grid[0] != input[0] || grid.back() != axes)
    fail(ErrorCode::kInvalidFile, "a grid of shape {} does not fit an input of shape {}", grid.to_string(),
         input.to_string());
  if (mode_of(context.attributes()) == Mode::kCubic && axes != 2)
    fail(ErrorCode::kUnsupported, "GridSample is cubic in two spatial axes only");
  padding_of(context.attributes());
  Shape output{input[0], input[1]};
  for (int i = 2; i < input.rank(); ++i) {
    output.push_back(grid[i - 1]);
    if (input[i] < 1) fail(ErrorCode::kInvalidFile, "GridSample can't sample {}", input.to_string());
  }
  context.output(0, context.dtype(0), output);
}

/// Reflects X into low..high at both ends.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double way = std::fmod(std::abs(x - low), 2 * range);
  return low + (way <= range ? way : 2 * range - way);
}

/// The taps of one coordinate along an axis: up to four inputs with their weights.
template <typename Number>
struct GridTaps {
  std::array<std::int64_t, 4> index{};
  std::array<Number, 4> weight{};
  int count = 0;
};

/// One spatial axis of the input.
class GridAxis {
 public:
  GridAxis(const Attributes& attributes, std::int64_t length)
      : mode_(mode_of(attributes)),
        padding_(padding_of(attributes)),
        align_(attributes.integer("align_corners", 0) != 0),
        length_(length) {}

  template <typename Number>
  GridTaps<Number> at(Number coordinate) const {
    const auto length = static_cast<Number>(length_);
    Number x = align_ ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
    // Coordinates far outside (and NaN) are clamped: no neighbour is inside.
    if (!(x > -1e9F)) x = -1e9F;
    x = padding_ == Padding::kReflection ? static_cast<Number>(apply_padding(std::min<Number>(x, 1e9F)))
                                         : std::clamp<Number>(x, -3, length + 2);
    GridTaps<Number> taps;
    if (mode_ == Mode::kNearest) {
      add(taps, std::nearbyint(x), Number{1});
    } else if (mode_ == Mode::kLinear) {
      const Number first = std::floor(x);
      add(taps, first, 1 - (x - first));
      add(taps, first + 1, x - first);
    } else {
      const Number first = std::floor(x) - 1;
      for (int i = 0; i < 4; ++i) add(taps, first + static_cast<Number>(i), cubic(x - first - static_cast<Number>(i)));
    }
    return taps;
  }

 private:
  double apply_padding(double x) const {
    const auto last = static_cast<double>(length_ - 1);
    if (padding_ == Padding::kBorder) return std::clamp(x, 0.0, last);
    if (padding_ == Padding::kZeros) return x;
    return align_ ? reflect(x, 0, last) : reflect(x, -0.5, last + 0.5);
  }

  /// Cubic convolution with a = -0.75.
  template <typename Number>
  static Number cubic(Number distance) {
    const Number a = static_cast<Number>(-0.75);
    const Number d = std::abs(distance);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  }

  template <typename Number>
  void add(GridTaps<Number>& taps, Number position, Number weight) const {
    const auto inside = static_cast<std::int64_t>(std::nearbyint(apply_padding(position)));
    if (padding_ == Padding::kZeros && (inside < 0 || inside >= length_)) return;
    taps.index[static_cast<std::size_t>(taps.count)] = std::clamp<std::int64_t>(inside, 0, length_ - 1);
    taps.weight[static_cast<std::size_t>(taps.count++)] = weight;
  }

  Mode mode_;
  Padding padding_;
  bool align_;
  std::int64_t length_;
};

/// One output: a weighted sum over the taps of three axes (the first of length 1 in 2D).
template <typename T, typename Number>
Number sample(const T* plane, const std::array<GridTaps<Number>, 3>& taps, std::int64_t height, std::int64_t width) {
  Number sum{};
  for (std::size_t z = 0; z < static_cast<std::size_t>(taps[0].count); ++z) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(taps[1].count); ++y) {
      const T* row = plane + (taps[0].index[z] * height + taps[1].index[y]) * width;
      Number line{};
      for (std::size_t x = 0; x < static_cast<std::size_t>(taps[2].count); ++x)
        line += taps[2].weight[x] * static_cast<Number>(row[taps[2].index[x]]);
      sum += taps[0].weight[z] * taps[1].weight[y] * line;
    }
  }
  return sum;
}

/// The element at a point with at most one tap per axis; 0 if there is none.
template <typename T, typename Number>
T nearest(const T* plane, const std::array<GridTaps<Number>, 3>& taps, std::int64_t height, std::int64_t width) {
  for (const auto& axis : taps)
    if (axis.count == 0) return T{};
  return plane[(taps[0].index[0] * height + taps[1].index[0]) * width + taps[2].index[0]];
}

template <typename T, typename G>
void grid_sample(const KernelContext& context) {
  using Number = std::conditional_t<std::is_integral_v<T>, double, Accumulator<T>>;
  const bool copies = mode_of(context.attributes()) == Mode::kNearest;
  const Shape& shape = context.input(0).shape;
  const int spatial = shape.rank() - 2;
  const std::int64_t height = shape[shape.rank() - 2];
  const std::int64_t width = shape.back();
  std::vector<GridAxis> axes;
  for (int i = 2; i < shape.rank(); ++i) axes.emplace_back(context.attributes(), shape[i]);
  const std::int64_t plane = height * width * (spatial == 3 ? shape[2] : 1);
  const std::int64_t points = context.output().elements() / (shape[0] * shape[1]);
  const bool truths = context.input(0).dtype == DType::kBool;
  const auto* input = static_cast<const T*>(context.input(0).data);
  const G* coordinates = context.in<G>(1).data();
  auto* output = static_cast<T*>(context.output().data);
  std::array<GridTaps<Number>, 3> taps;
  taps[0].weight[0] = 1;
  taps[0].count = 1;
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    for (std::int64_t point = 0; point < points; ++point, coordinates += spatial) {
      for (std::size_t i = 0; i < axes.size(); ++i)
        taps[taps.size() - axes.size() + i] = axes[i].at(static_cast<Number>(coordinates[axes.size() - 1 - i]));
      for (std::int64_t channel = image * shape[1]; channel < (image + 1) * shape[1]; ++channel) {
        const T* from = input + channel * plane;
        T& to = output[channel * points + point];
        if (copies) {
          to = nearest(from, taps, height, width);
        } else {
          const Number sum = sample(from, taps, height, width);
          to = truths ? static_cast<T>(sum != 0 ? 1 : 0) : element_of<T>(sum);
        }
      }
    }
  }
}

void reference_grid_sample(const KernelContext& context) {
  if (context.output().elements() == 0) return;
  // As bytes: a model file may contain other bools than 0 and 1.
  const DType dtype = context.input(0).dtype == DType::kBool ? DType::kUInt8 : context.input(0).dtype;
  with_number(dtype, [&]<typename T>(std::type_identity<T>) {
    with_float(context.input(1).dtype, [&]<typename G>(std::type_identity<G>) { grid_sample<T, G>(context); });
  });
}

constexpr OpTraits kGridSampleTraits{.arity = {2, 2}, .float_inputs = 1, .reads = Reads::kIndexed};

constexpr Op kGridSampleOps[] = {{"", "GridSample", infer_grid_sample, reference_grid_sample, kGridSampleTraits}};

}  // namespace

std::span<const Op> grid_sample_ops() { return kGridSampleOps; }

}  // namespace saccade
