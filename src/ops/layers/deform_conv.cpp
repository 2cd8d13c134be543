#include <cmath>

#include "ops/core/dispatch.hpp"
#include "ops/core/values.hpp"
#include "ops/layers/convolve.hpp"

// DeformConv: a convolution whose taps are displaced by individual, fractional offsets and weighted by a mask. Inputs X
// (N, C, H, W), W, offset (N, offset groups * taps * 2, H', W'; rows before columns), B (optional), mask (N, offset
// groups * taps, H', W'; optional). Accumulated in float32 (float64 for float64).
namespace saccade {
namespace {

std::int64_t offset_groups(const Attributes& attributes, const ConvShape& shape) {
  const std::int64_t groups = attributes.integer("offset_group", 1);
  if (groups < 1 || shape.channels % groups != 0)
    fail(ErrorCode::kInvalidFile, "{} channels can't be split into {} groups of offsets", shape.channels, groups);
  return groups;
}

void check_input(const InferContext& context, int i, const Shape& wanted) {
  if (context.dtype(i) != context.dtype(0) || context.shape(i) != wanted)
    fail(ErrorCode::kInvalidFile, "input {} is {} {}, not {} {}", i, to_string(context.dtype(i)),
         context.shape(i).to_string(), to_string(context.dtype(0)), wanted.to_string());
}

void infer_deform_conv(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const Shape& input = context.shape(0);
  if (input.rank() != 4)
    fail(ErrorCode::kUnsupported, "DeformConv of {} is not supported; it takes two spatial axes", input.to_string());
  const ConvShape shape = conv_shape(context.attributes(), input, context.shape(1));
  const Window& window = shape.window;
  const std::int64_t taps = checked_multiply(offset_groups(context.attributes(), shape), window.taps());
  check_input(context, 1, context.shape(1));
  check_input(context, 2, window.output_shape(shape.batch, checked_multiply(2, taps)));
  if (context.has(3)) check_input(context, 3, {shape.filters});
  if (context.has(4)) check_input(context, 4, window.output_shape(shape.batch, taps));
  context.output(0, context.dtype(0), window.output_shape(shape.batch, shape.filters));
}

/// The bilinear sample of a tap in a channel's plane: four elements and their weights, 0 outside.
template <typename Real>
struct Sample {
  std::array<std::int64_t, 4> at{};
  std::array<Real, 4> weight{};
};

template <typename Real>
Sample<Real> sample_at(Real y, Real x, Real factor, std::int64_t height, std::int64_t width) {
  Sample<Real> sample;
  if (!(y > -1 && x > -1 && y < static_cast<Real>(height) && x < static_cast<Real>(width))) return sample;
  const Real top = std::floor(y);
  const Real left = std::floor(x);
  const std::array rows = {1 - (y - top), y - top};
  const std::array columns = {1 - (x - left), x - left};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto row = static_cast<std::int64_t>(top) + static_cast<std::int64_t>(i / 2);
    const auto column = static_cast<std::int64_t>(left) + static_cast<std::int64_t>(i % 2);
    if (row < 0 || column < 0 || row >= height || column >= width) continue;
    sample.at[i] = row * width + column;
    sample.weight[i] = rows[i / 2] * columns[i % 2] * factor;
  }
  return sample;
}

/// Convolves one row of outputs at a time: the samples of its taps form a matrix with one row per (channel, tap), which
/// is multiplied by the matrix of filters.
template <typename T>
class Convolution {
  using Real = Accumulator<T>;

 public:
  explicit Convolution(const KernelContext& context)
      : context_(context),
        shape_(conv_shape(context.attributes(), context.input(0).shape, context.input(1).shape)),
        offset_groups_(offset_groups(context.attributes(), shape_)),
        weights_(context.in<T>(1).begin(), context.in<T>(1).end()),
        unfolded_(static_cast<std::size_t>(shape_.channels * taps_ * width_)),
        sums_(static_cast<std::size_t>(shape_.filters * width_)) {}

  void run() {
    for (std::int64_t image = 0; image < shape_.batch; ++image)
      for (std::int64_t y = 0; y < window_.out[1]; ++y) {
        for (std::int64_t tap = 0; tap < offset_groups_ * taps_; ++tap)
          for (std::int64_t x = 0; x < width_; ++x) unfold(image, tap, y, x);
        multiply();
        store(image, y);
      }
  }

 private:
  /// Element (y, x) of plane CHANNEL of IMAGE in input I, whose planes have the outputs' size.
  Real element(int i, std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const {
    const std::int64_t plane = image * context_.input(i).shape[1] + channel;
    return static_cast<Real>(context_.in<T>(i)[static_cast<std::size_t>((plane * window_.out[1] + y) * width_ + x)]);
  }

  /// Samples TAP (of an offset group) for output (y, x), in every channel of the group.
  void unfold(std::int64_t image, std::int64_t tap, std::int64_t y, std::int64_t x) {
    const std::int64_t row = tap % taps_ / window_.kernel[2];
    const std::int64_t column = tap % window_.kernel[2];
    const auto place = [&](std::size_t axis, std::int64_t output, std::int64_t step) {
      return static_cast<Real>(output * window_.stride[axis] - window_.pad_begin[axis] + step * window_.dilation[axis]);
    };
    const auto sample = sample_at<Real>(
        place(1, y, row) + element(2, image, 2 * tap, y, x), place(2, x, column) + element(2, image, 2 * tap + 1, y, x),
        context_.has(4) ? element(4, image, tap, y, x) : Real{1}, window_.in[1], window_.in[2]);
    const std::int64_t channels = shape_.channels / offset_groups_;
    for (std::int64_t channel = tap / taps_ * channels; channel < (tap / taps_ + 1) * channels; ++channel) {
      const T* plane = context_.in<T>(0).data() + (image * shape_.channels + channel) * window_.inputs();
      Real sum = 0;
      for (std::size_t i = 0; i < 4; ++i)
        if (sample.weight[i] != 0) sum += sample.weight[i] * static_cast<Real>(plane[sample.at[i]]);
      unfolded_[static_cast<std::size_t>((channel * taps_ + tap % taps_) * width_ + x)] = sum;
    }
  }

  void multiply() {
    std::ranges::fill(sums_, Real{});
    const std::int64_t depth = shape_.depth();
    const std::int64_t filters = shape_.filters / shape_.groups;
    for (std::int64_t group = 0; group < shape_.groups; ++group)
      multiply_add(filters, width_, depth, weights_.data() + group * filters * depth, depth,
                   unfolded_.data() + group * depth * width_, width_, sums_.data() + group * filters * width_, width_);
  }

  void store(std::int64_t image, std::int64_t y) const {
    const Real* from = sums_.data();
    for (std::int64_t filter = 0; filter < shape_.filters; ++filter) {
      const Real base =
          context_.has(3) ? static_cast<Real>(context_.in<T>(3)[static_cast<std::size_t>(filter)]) : Real{};
      T* to = context_.out<T>().data() + ((image * shape_.filters + filter) * window_.out[1] + y) * width_;
      for (std::int64_t x = 0; x < width_; ++x) *to++ = static_cast<T>(*from++ + base);
    }
  }

  const KernelContext& context_;
  ConvShape shape_;
  const Window& window_ = shape_.window;
  std::int64_t taps_ = window_.taps();  ///< of the kernel
  std::int64_t width_ = window_.out[2];
  std::int64_t offset_groups_;
  std::vector<Real> weights_;
  std::vector<Real> unfolded_;
  std::vector<Real> sums_;
};

void reference_deform_conv(const KernelContext& context) {
  if (context.output().elements() == 0) return;
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { Convolution<T>(context).run(); });
}

constexpr OpTraits kDeformConvTraits{.arity = {3, 5}, .cost = {.per = CostPer::kProduct}};

constexpr Op kDeformConvOps[] = {{"", "DeformConv", infer_deform_conv, reference_deform_conv, kDeformConvTraits}};

}  // namespace

std::span<const Op> deform_conv_ops() { return kDeformConvOps; }

}  // namespace saccade
