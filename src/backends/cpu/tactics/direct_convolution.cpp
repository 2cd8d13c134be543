#include <algorithm>

#include "cpu/kernels/product_kernels.hpp"
#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/layers/window.hpp"

// Conv on channels-last tensors as it is defined: a tile of output pixels and channels is the sum of products of the
// pixels that each tap reads and that tap's weights. Nothing is unfolded or transposed; taps in the padding read zeros.
// Weights are packed in panels of output channels, in the order in which tiles read them.
//
// A part of the work is a strip of pixels times a group of panels, whose weights stay in L2. If a single panel is too
// large for that, all tiles of the strip sum a section of the input channels, whose weights stay in L1d, before the
// next.
//
// Bound: multiply-adds / peak.
namespace saccade::cpu {
namespace {

// Of weights that tiles read from L1d: half of 32 KiB, whose rest is for the pixels.
constexpr std::int64_t kSectionBytes = 16 << 10;
// Of the weights, and of the pixels, of a part of the work: together an L2 of 512 KiB.
constexpr std::int64_t kPartBytes = 256 << 10;
// Below this, waking another thread does not pay.
constexpr std::int64_t kLeastOperations = 400'000;
constexpr std::int64_t kPartsPerThread = 4;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The sizes of a convolution and how it is divided.
struct Geometry {
  Window window;
  std::int64_t images;
  std::int64_t groups;
  std::int64_t in_channels;   // of a group
  std::int64_t out_channels;  // of a group
  std::int64_t taps;
  std::int64_t pixels;  // of an output image

  std::int64_t tile_rows;
  std::int64_t tile_columns;
  std::int64_t panels;        // of a group
  std::int64_t section;       // input channels that a tile sums at once
  std::int64_t part_panels;   // of a part
  std::int64_t strip;         // pixels of a part
  std::int64_t strips;        // of an image
  std::int64_t panel_groups;  // of a group

  std::int64_t parts() const { return images * groups * panel_groups * strips; }
  std::int64_t panel_floats() const { return taps * in_channels * tile_columns; }
};

/// A 1x1 convolution that reads each pixel once is a product of all pixels: one row of them.
Window flattened(const Window& window) {
  const bool is_pointwise = window.taps() == 1 && window.in == window.out &&
                            window.pad_begin == Window::Axes{0, 0, 0} && window.stride == Window::Axes{1, 1, 1};
  if (!is_pointwise) return window;
  Window flat = window;
  flat.in = flat.out = {1, 1, window.outputs()};
  return flat;
}

/// Chooses the sections, panels and pixels of a part: as large as the caches allow, and enough parts for the threads.
void divide(Geometry& g, int threads) {
  const ProductKernels& kernels = product_kernels();
  g.tile_rows = static_cast<std::int64_t>(kernels.rows);
  g.tile_columns = static_cast<std::int64_t>(kernels.columns);
  g.panels = ceil_div(g.out_channels, g.tile_columns);
  g.part_panels = std::clamp<std::int64_t>(kPartBytes / (g.panel_floats() * 4), 1, g.panels);
  g.part_panels = ceil_div(g.panels, ceil_div(g.panels, g.part_panels));
  const bool fits = g.part_panels * g.panel_floats() * 4 <= kPartBytes;
  const std::int64_t most = std::max<std::int64_t>(8, kSectionBytes / (g.taps * g.tile_columns * 4));
  g.section = fits ? g.in_channels : ceil_div(g.in_channels, ceil_div(g.in_channels, most));
  const std::int64_t pixel_bytes = 4 * (ceil_div(g.window.inputs() * g.in_channels, g.pixels) +
                                        std::min(g.part_panels * g.tile_columns, g.out_channels)) +
                                   g.taps * static_cast<std::int64_t>(sizeof(const float*));
  g.strip = std::clamp<std::int64_t>(kPartBytes / pixel_bytes, 4 * g.tile_rows, std::max(g.pixels, 4 * g.tile_rows));
  const std::int64_t others = g.images * g.groups * ceil_div(g.panels, g.part_panels);
  if (threads > 1)
    g.strip = std::min(g.strip, ceil_div(g.pixels, std::max<std::int64_t>(1, threads * kPartsPerThread / others)));
  const std::int64_t pixel_operations =
      2 * g.taps * g.in_channels * std::min(g.part_panels * g.tile_columns, g.out_channels);
  g.strip = std::max(g.strip, std::min(g.pixels, kLeastOperations / 4 / pixel_operations));
  g.strip = ceil_div(g.strip, g.tile_rows) * g.tile_rows;
  g.strips = ceil_div(g.pixels, g.strip);
  // Few pixels: divided by channels instead.
  while (g.part_panels > 1 && g.images * g.groups * g.strips * ceil_div(g.panels, g.part_panels) < 2 * threads &&
         g.strip * pixel_operations > kLeastOperations)
    g.part_panels = ceil_div(g.part_panels, 2);
  g.panel_groups = ceil_div(g.panels, g.part_panels);
}

Geometry geometry_of(const NodeContext& context) {
  const Shape& input = context.input(0).type.shape;
  const Shape& weights = context.input(1).type.shape;
  const std::int64_t groups = context.node.attributes.integer("group", 1);
  Geometry g{};
  g.window = flattened(slide(context.node.attributes, input, kernel_of(context.node.attributes, weights)));
  g.images = input[0];
  g.groups = groups;
  g.in_channels = weights[1];
  g.out_channels = weights[0] / groups;
  g.taps = g.window.taps();
  g.pixels = g.window.outputs();
  divide(g, context.threads);
  return g;
}

/// Panels in the order group, panel, section, tap, input channel, column; columns past the last channel are zero.
Tensor packed_weights(const NodeContext& context, const Geometry& g) {
  const std::int64_t floats = g.groups * g.panels * g.panel_floats();
  if (context.budget != nullptr) context.budget->take(static_cast<std::size_t>(floats) * sizeof(float));
  Tensor packed(DType::kFloat32, Shape{floats});
  const float* weights = context.constant(1)->data<float>().data();
  float* to = packed.data<float>().data();
  for (std::int64_t panel = 0; panel < g.groups * g.panels; ++panel) {
    const std::int64_t first = panel / g.panels * g.out_channels + panel % g.panels * g.tile_columns;
    const std::int64_t last = (panel / g.panels + 1) * g.out_channels;
    for (std::int64_t start = 0; start < g.in_channels; start += g.section)
      for (std::int64_t tap = 0; tap < g.taps; ++tap)
        for (std::int64_t c = start; c < std::min(start + g.section, g.in_channels); ++c)
          for (std::int64_t j = 0; j < g.tile_columns; ++j)
            *to++ = first + j < last ? weights[((first + j) * g.in_channels + c) * g.taps + tap] : 0.0F;
  }
  return packed;
}

/// The biases, one per column of all panels.
Tensor padded_bias(const NodeContext& context, const Geometry& g) {
  Tensor bias(DType::kFloat32, Shape{g.groups * g.panels * g.tile_columns});
  std::ranges::fill(bias.data<float>(), 0.0F);
  if (!context.has(2)) return bias;
  const auto given = context.constant(2)->data<float>();
  for (std::int64_t group = 0; group < g.groups; ++group)
    std::copy_n(given.begin() + group * g.out_channels, g.out_channels,
                bias.data<float>().begin() + group * g.panels * g.tile_columns);
  return bias;
}

/// The output columns [first, last) whose taps are all inside the input.
struct Columns {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Columns columns_inside(const Window& window, const Taps& taps) {
  const auto is_inside = [&](std::int64_t x) {
    for (std::int64_t c = 0; c < window.kernel[2]; ++c)
      if (taps.of(c)[x] < 0) return false;
    return true;
  };
  Columns inside;
  while (inside.first < window.out[2] && !is_inside(inside.first)) ++inside.first;
  inside.last = inside.first;
  while (inside.last < window.out[2] && is_inside(inside.last)) ++inside.last;
  return inside;
}

/// What all executions of a convolution share.
struct PackedConvolution {
  Geometry geometry;
  std::array<Taps, Window::kAxes> taps;
  Columns inside;
  Tensor weights;
  Tensor bias;
  Tensor zeros;  // what taps in the padding read
  RowOperations operations;

  /// Pointers of a strip: by tile, tap and row.
  std::size_t pointers() const { return static_cast<std::size_t>(geometry.strip * geometry.taps); }
};

class BoundConvolution : public BoundLaunch {
 public:
  BoundConvolution(const PackedConvolution& packed, const Bindings& bindings)
      : packed_(packed),
        g_(packed.geometry),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        output_(static_cast<float*>(bindings.outputs[0].data)),
        pointers_(reinterpret_cast<const float**>(bindings.scratch)),
        weights_(packed.weights.data<float>().data()),
        bias_(packed.bias.data<float>().data()) {}

  void run() override {
    parallel_for(g_.parts(), 1, [this](std::int64_t begin, std::int64_t end) {
      const float** own = pointers_ + static_cast<std::size_t>(current_rank().rank) * packed_.pointers();
      for (std::int64_t part = begin; part < end; ++part) run_part(part, own);
    });
  }

 private:
  /// Parts of the same panels follow each other.
  void run_part(std::int64_t part, const float** pointers) {
    const std::int64_t strip = part % g_.strips;
    const std::int64_t panels = part / g_.strips % g_.panel_groups;
    const std::int64_t group = part / (g_.strips * g_.panel_groups) % g_.groups;
    const std::int64_t image = part / (g_.strips * g_.panel_groups * g_.groups);
    const std::int64_t first = strip * g_.strip;
    const std::int64_t count = std::min(g_.strip, g_.pixels - first);
    const float* input = static_cast<const float*>(inputs_[0].data) +
                         image * g_.window.inputs() * g_.groups * g_.in_channels + group * g_.in_channels;
    point(input, first, count, pointers);
    const std::int64_t channels = g_.groups * g_.out_channels;
    float* output = output_ + (image * g_.pixels + first) * channels;
    const std::int64_t from = panels * g_.part_panels;
    const std::int64_t to = std::min(from + g_.part_panels, g_.panels);
    const std::int64_t channel = group * g_.out_channels + from * g_.tile_columns;
    const std::int64_t width = std::min((to - from) * g_.tile_columns, g_.out_channels - from * g_.tile_columns);
    if (g_.section == g_.in_channels) {
      for (std::int64_t row = 0; row < count; row += g_.tile_rows) {
        const std::int64_t rows = std::min(g_.tile_rows, count - row);
        for (std::int64_t panel = from; panel < to; ++panel) run_tile({group, panel, 0}, row, rows, pointers, output);
        packed_.operations.run(output + row * channels + channel, image * g_.pixels + first + row, rows, channel, width,
                               channels, inputs_.data());
      }
      return;
    }
    for (std::int64_t start = 0; start < g_.in_channels; start += g_.section)
      for (std::int64_t panel = from; panel < to; ++panel)
        for (std::int64_t row = 0; row < count; row += g_.tile_rows)
          run_tile({group, panel, start}, row, std::min(g_.tile_rows, count - row), pointers, output);
    packed_.operations.run(output + channel, image * g_.pixels + first, count, channel, width, channels,
                           inputs_.data());
  }

  struct Section {
    std::int64_t group;
    std::int64_t panel;
    std::int64_t start;  // input channel
  };

  /// ROWS pixels from ROW of the strip on, whose first pixel is at OUTPUT.
  void run_tile(const Section& at, std::int64_t row, std::int64_t rows, const float** pointers, float* output) const {
    const std::int64_t panel = at.group * g_.panels + at.panel;
    const std::int64_t channels = g_.groups * g_.out_channels;
    const std::int64_t column = at.panel * g_.tile_columns;
    product_kernels().run({.rows = pointers + row * g_.taps,
                           .taps = static_cast<std::size_t>(g_.taps),
                           .first = static_cast<std::size_t>(at.start),
                           .depth = static_cast<std::size_t>(std::min(g_.section, g_.in_channels - at.start)),
                           .panel = weights_ + panel * g_.panel_floats() + at.start * g_.taps * g_.tile_columns,
                           .initial = at.start == 0 ? bias_ + panel * g_.tile_columns : nullptr,
                           .out = output + row * channels + at.group * g_.out_channels + column,
                           .stride = static_cast<std::size_t>(channels),
                           .height = static_cast<std::size_t>(rows),
                           .columns = static_cast<std::size_t>(std::min(g_.tile_columns, g_.out_channels - column))});
  }

  /// Where the taps of the COUNT pixels from FIRST on read.
  void point(const float* input, std::int64_t first, std::int64_t count, const float** pointers) const {
    const Window& w = g_.window;
    const std::int64_t step = w.stride[2] * g_.groups * g_.in_channels;
    for (std::int64_t done = 0; done < count; done += g_.tile_rows, pointers += g_.taps * g_.tile_rows) {
      const std::int64_t rows = std::min(g_.tile_rows, count - done);
      const std::int64_t x = (first + done) % w.out[2];
      if (x < packed_.inside.first || x + rows > packed_.inside.last) {
        for (std::int64_t row = 0; row < rows; ++row) point_row(input, first + done + row, 1, step, pointers + row);
      } else {
        point_row(input, first + done, rows, step, pointers);
      }
    }
  }

  /// Of ROWS pixels of a line, from PIXEL on, whose columns are all inside the input unless there is one pixel.
  void point_row(const float* input, std::int64_t pixel, std::int64_t rows, std::int64_t step,
                 const float** pointers) const {
    const Window& w = g_.window;
    const std::int64_t channels = g_.groups * g_.in_channels;
    const float* zeros = packed_.zeros.data<float>().data();
    const std::int64_t x = pixel % w.out[2];
    const std::int64_t y = pixel / w.out[2] % w.out[1];
    const std::int64_t z = pixel / (w.out[2] * w.out[1]);
    for (std::int64_t a = 0; a < w.kernel[0]; ++a)
      for (std::int64_t b = 0; b < w.kernel[1]; ++b) {
        const std::int64_t depth = packed_.taps[0].of(a)[z];
        const std::int64_t line = packed_.taps[1].of(b)[y];
        const bool is_inside = depth >= 0 && line >= 0;
        const float* from = is_inside ? input + (depth * w.in[1] + line) * w.in[2] * channels : zeros;
        for (std::int64_t c = 0; c < w.kernel[2]; ++c, pointers += g_.tile_rows) {
          const std::int64_t column = packed_.taps[2].of(c)[x];
          const bool reads = is_inside && column >= 0;
          const float* at = reads ? from + column * channels : zeros;
          for (std::int64_t row = 0; row < rows; ++row, at += reads ? step : 0) pointers[row] = at;
        }
      }
  }

  const PackedConvolution& packed_;
  const Geometry& g_;
  std::vector<TensorView> inputs_;
  float* output_;
  const float** pointers_;
  const float* weights_;
  const float* bias_;
};

class ConvolutionLaunch : public Launch {
 public:
  ConvolutionLaunch(PackedConvolution packed, int threads) : packed_(std::move(packed)), threads_(threads) {}

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(threads_) * packed_.pointers() * sizeof(const float*);
  }
  std::string detail() const override {
    const Geometry& g = packed_.geometry;
    return fmt::format("{}x{} tiles, {} parts of {} pixels x {} channels", g.tile_rows, g.tile_columns, g.parts(),
                       g.strip, std::min(g.part_panels * g.tile_columns, g.out_channels));
  }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundConvolution>(packed_, bindings);
  }

 private:
  PackedConvolution packed_;
  int threads_;
};

class DirectConvolution : public Tactic {
 public:
  std::string_view name() const override { return "vector.convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
    for (int i = 0; i < context.input_count(); ++i)
      if (context.has(i) && context.input(i).type.dtype != DType::kFloat32)
        return Support::no("only float32 tensors are supported");
    if (context.constant(1) == nullptr || (context.has(2) && context.constant(2) == nullptr))
      return Support::no("the weights or the bias are not constant");
    if (context.input(0).layout != Layout::kChannelsLast || context.output().layout != Layout::kChannelsLast)
      return Support::no("its tensors are not channels-last");
    if (context.output().type.shape.elements() == 0 || context.input(0).type.shape.elements() == 0)
      return Support::no("a tensor is empty");
    const std::int64_t groups = context.node.attributes.integer("group", 1);
    if (groups > 1 && context.input(1).type.shape[0] / groups < kLeastOfGroup)
      return Support::no("its groups have too few output channels for a vector");
    std::string why;
    return RowOperations::of(context, why) ? Support{} : Support::no(why);
  }

  /// With AVX2, oneDNN's kernels of channels-last tensors are slower for windows of several taps and enough channels.
  bool leads(const NodeContext& context) const override {
    constexpr std::size_t kColumnsOfAvx2 = 16;
    constexpr std::int64_t kLeastChannels = 24;
    if (!context.node.is("Conv") || product_kernels().columns != kColumnsOfAvx2) return false;
    const Shape& weights = context.input(1).type.shape;
    return weights[1] >= kLeastChannels && weights.elements() > weights[0] * weights[1] &&
           context.node.attributes.integer("group", 1) == 1;
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Geometry g = geometry_of(context);
    const auto taps = taps_of(g.window);
    Tensor zeros(DType::kFloat32, Shape{g.in_channels});
    std::ranges::fill(zeros.data<float>(), 0.0F);
    std::string why;
    return std::make_unique<ConvolutionLaunch>(PackedConvolution{.geometry = g,
                                                                 .taps = taps,
                                                                 .inside = columns_inside(g.window, taps[2]),
                                                                 .weights = packed_weights(context, g),
                                                                 .bias = padded_bias(context, g),
                                                                 .zeros = std::move(zeros),
                                                                 .operations = RowOperations::of(context, why).value()},
                                               std::max(context.threads, 1));
  }

 private:
  static constexpr std::int64_t kLeastOfGroup = 8;
};

}  // namespace

const Tactic& vector_convolution() {
  static const DirectConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
