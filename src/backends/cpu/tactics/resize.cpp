#include <algorithm>

#include "cpu/kernels/half_row_kernels.hpp"
#include "cpu/kernels/sample_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/sampling/resize_axis.hpp"
#include "tensor/half.hpp"

// Resize of an image's height and width in any mode. The taps of every output row and column are computed at compile
// time. Channels-last images are vectorised over channels; row-major planes combine rows first, then columns.
namespace saccade::cpu {
namespace {

/// One axis' taps, flat.
struct Taps {
  std::vector<std::size_t> begin{0};  // output i has the taps begin[i] .. begin[i + 1]
  std::vector<std::int64_t> index;
  std::vector<float> weight;

  explicit Taps(const std::vector<ResizeTap>& taps) {
    for (const ResizeTap& tap : taps) {
      for (std::size_t k = 0; k < tap.weights.size(); ++k) {
        index.push_back(tap.first + static_cast<std::int64_t>(k));
        weight.push_back(tap.weights[k]);
      }
      begin.push_back(index.size());
    }
  }
  std::size_t count(std::int64_t i) const {
    return begin[static_cast<std::size_t>(i) + 1] - begin[static_cast<std::size_t>(i)];
  }
  std::size_t first(std::int64_t i) const { return begin[static_cast<std::size_t>(i)]; }
  /// Whether an output is a copy of one input.
  bool copies(std::int64_t i) const { return count(i) == 1 && weight[first(i)] == 1.0F; }
};

/// Taps of an output pixel: 4 x 4 for cubic.
constexpr std::size_t kMostTaps = 16;
constexpr std::int64_t kMostColumns = 8192;

struct Job {
  Taps rows;
  Taps columns;
  std::int64_t channels = 1;
  PixelPitches pitches;  ///< of channels-last images
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
  std::int64_t images = 1;
};

/// What an output pixel of a channels-last image is made of.
struct PixelTaps {
  PixelTaps(const Job& job, std::int64_t y, std::int64_t x) {
    const std::size_t row = job.rows.first(y);
    const std::size_t column = job.columns.first(x);
    for (std::size_t r = row; r < row + job.rows.count(y); ++r) {
      for (std::size_t c = column; c < column + job.columns.count(x); ++c) {
        const float weight = job.rows.weight[r] * job.columns.weight[c];
        if (weight == 0.0F) continue;
        offsets[count] = (job.rows.index[r] * job.in_width + job.columns.index[c]) * job.pitches.in;
        weights[count++] = weight;
      }
    }
  }

  bool copies() const { return count == 1 && weights[0] == 1.0F; }

  std::array<std::int64_t, kMostTaps> offsets;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  std::array<float, kMostTaps> weights;         // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  std::size_t count = 0;
};

void combine(const PixelTaps& taps, const float* image, std::int64_t channels, float* dst) {
  sample_kernels().combine(image, taps.offsets.data(), taps.weights.data(), taps.count, dst,
                           static_cast<std::size_t>(channels), false);
}

void combine(const PixelTaps& taps, const BFloat16* image, std::int64_t channels, BFloat16* dst) {
  std::array<const std::uint16_t*, kMostTaps> pixels;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  for (std::size_t i = 0; i < taps.count; ++i)
    pixels[i] = reinterpret_cast<const std::uint16_t*>(image + taps.offsets[i]);
  half_row_kernels().blend(pixels.data(), taps.weights.data(), taps.count, reinterpret_cast<std::uint16_t*>(dst),
                           static_cast<std::size_t>(channels));
}

template <typename Element>
void resize_pixel(const Job& job, const Element* image, std::int64_t y, std::int64_t x, Element* dst) {
  const PixelTaps taps(job, y, x);
  if (taps.copies())
    std::copy_n(image + taps.offsets[0], job.channels, dst);
  else if (taps.count == 0)
    std::fill_n(dst, job.channels, Element(0.0F));
  else
    combine(taps, image, job.channels, dst);
}

template <typename Element>
void resize_channels_last(const Job& job, const Element* src, Element* dst) {
  const std::int64_t row_elements = job.out_width * job.channels;
  parallel_for(job.images * job.out_height, kParallelGrain / row_elements + 1, [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Element* image = src + row / job.out_height * job.in_height * job.in_width * job.pitches.in;
      for (std::int64_t x = 0; x < job.out_width; ++x)
        resize_pixel(job, image, row % job.out_height, x, dst + (row * job.out_width + x) * job.pitches.out);
    }
  });
}

void resize_row(const Job& job, const float* plane, std::int64_t y, float* dst) {
  alignas(64) std::array<float, kMostColumns> blended;
  const std::size_t row = job.rows.first(y);
  const float* line = plane + job.rows.index[row] * job.in_width;
  if (!job.rows.copies(y)) {
    std::array<std::int64_t, kMostTaps> offsets;
    for (std::size_t r = 0; r < job.rows.count(y); ++r) offsets[r] = job.rows.index[row + r] * job.in_width;
    sample_kernels().combine(plane, offsets.data(), job.rows.weight.data() + row, job.rows.count(y), blended.data(),
                             static_cast<std::size_t>(job.in_width), false);
    line = blended.data();
  }
  for (std::int64_t x = 0; x < job.out_width; ++x) {
    const std::size_t column = job.columns.first(x);
    float sum = job.columns.weight[column] * line[job.columns.index[column]];
    for (std::size_t c = column + 1; c < column + job.columns.count(x); ++c)
      sum += job.columns.weight[c] * line[job.columns.index[c]];
    dst[x] = sum;
  }
}

void resize_row_major(const Job& job, const float* src, float* dst) {
  parallel_for(job.images * job.channels * job.out_height, kParallelGrain / job.out_width + 1,
               [&](auto begin, auto end) {
                 for (std::int64_t row = begin; row < end; ++row)
                   resize_row(job, src + row / job.out_height * job.in_height * job.in_width, row % job.out_height,
                              dst + row * job.out_width);
               });
}

std::vector<float> reals(const Tensor* tensor) {
  if (tensor == nullptr || tensor->elements() == 0 || tensor->dtype() != DType::kFloat32) return {};
  return {tensor->data<float>().begin(), tensor->data<float>().end()};
}

std::vector<std::int64_t> integers(const Tensor* tensor) {
  if (tensor == nullptr || tensor->elements() == 0) return {};
  return {tensor->data<std::int64_t>().begin(), tensor->data<std::int64_t>().end()};
}

std::vector<ResizeAxis> axes_of(const NodeContext& context) {
  return resize_axes(context.node.attributes, context.input(0).type.shape, reals(context.constant(2)),
                     integers(context.constant(3)), {});
}

class Resize : public Tactic {
 public:
  std::string_view name() const override { return "vector.resize"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("Resize")) return Support::other_operator("not a Resize");
    const Value& input = context.input(0);
    if (input.type.shape.rank() != 4) return Support::no("only images (N, C, H, W) have a vector kernel");
    const bool is_half = input.type.dtype == DType::kBFloat16 && input.layout == Layout::kChannelsLast;
    if (input.type.dtype != DType::kFloat32 && !is_half)
      return Support::no("only float32, and bfloat16 channels-last, have vector kernels");
    if (input.layout != context.output().layout) return Support::no("its input and output have different layouts");
    if (input.type.shape.elements() == 0 || context.output().type.shape.elements() == 0)
      return Support::no("a tensor is empty");
    if (node.attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize")
      return Support::no("it crops a region");
    for (int i = 2; i < 4; ++i)
      if (context.has(i) && context.constant(i) == nullptr) return Support::no("its scales are not constant");
    const auto axes = axes_of(context);
    for (std::size_t i = 0; i < 2; ++i)
      if (axes[i].in != axes[i].out) return Support::no("it resizes the batch or the channels");
    for (std::size_t i = 2; i < 4; ++i)
      for (const ResizeTap& tap : resize_taps(node.attributes, axes[i]))
        if (tap.weights.size() > 4) return Support::no("it smooths over more than four inputs");
    if (input.layout == Layout::kRowMajor && input.type.shape[3] > kMostColumns)
      return Support::no("its rows are too long");
    return supports_post_ops(context);
  }

  bool supports_strided_operands(const NodeContext& context) const override {
    return context.node.post_ops.empty() && has_pixel_pitches(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const auto axes = axes_of(context);
    const Shape& shape = context.input(0).type.shape;
    const Job job{.rows = Taps(resize_taps(context.node.attributes, axes[2])),
                  .columns = Taps(resize_taps(context.node.attributes, axes[3])),
                  .channels = shape[1],
                  .pitches = pixel_pitches(context),
                  .in_height = shape[2],
                  .in_width = shape[3],
                  .out_height = axes[2].out,
                  .out_width = axes[3].out,
                  .images = shape[0]};
    if (context.input(0).type.dtype == DType::kBFloat16)
      return with_post_ops(context, launch_of([job](auto inputs, auto outputs) {
                             resize_channels_last(job, static_cast<const BFloat16*>(inputs[0].data),
                                                  static_cast<BFloat16*>(outputs[0].data));
                           }));
    const auto run = context.input(0).layout == Layout::kChannelsLast ? resize_channels_last<float> : resize_row_major;
    return with_post_ops(context, launch_of([job, run](auto inputs, auto outputs) {
                           run(job, static_cast<const float*>(inputs[0].data), static_cast<float*>(outputs[0].data));
                         }));
  }
};

}  // namespace

const Tactic& vector_resize() {
  static const Resize tactic;
  return tactic;
}

}  // namespace saccade::cpu
