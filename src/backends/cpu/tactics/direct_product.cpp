#include "cpu/tactics/direct_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/integers.hpp"
#include "cpu/loops/inside_columns.hpp"
#include "cpu/team/parallel.hpp"

// A tile of output pixels and channels is the sum of products of the pixels that each tap reads and that tap's weights.
// Nothing is unfolded or transposed; taps in the padding read zeros. Weights are packed in panels of output channels,
// in the order in which tiles read them.
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
constexpr std::int64_t kPartsPerThread = 4;

/// Packs panel PANEL (of all groups) of WEIGHTS, multiplied by FACTOR, to TO: in the order section, tap, input channel,
/// column. Columns past the last output channel are zero.
void pack_panel(const ProductGeometry& g, const float* weights, const WeightStrides& steps, float factor,
                std::int64_t panel, float* to) {
  const std::int64_t first = panel / g.panels * g.out_channels + panel % g.panels * g.tile_columns;
  const std::int64_t width = std::min(g.tile_columns, (panel / g.panels + 1) * g.out_channels - first);
  weights += first * steps.out_channel;
  for (std::int64_t start = 0; start < g.in_channels; start += g.section)
    for (std::int64_t tap = 0; tap < g.taps; ++tap)
      for (std::int64_t c = start; c < std::min(start + g.section, g.in_channels); ++c, to += g.tile_columns) {
        const float* from = weights + c * steps.in_channel + tap * steps.tap;
        for (std::int64_t j = 0; j < width; ++j) to[j] = from[j * steps.out_channel] * factor;
        std::fill(to + width, to + g.tile_columns, 0.0F);
      }
}

/// A product with what its runs need besides memory.
struct Prepared {
  explicit Prepared(PackedProduct packed)
      : product(std::move(packed)),
        taps(taps_of(product.geometry.window)),
        inside(inside_columns(product.geometry.window, taps[2])),
        zeros(DType::kFloat32, Shape{product.geometry.in_channels}) {
    std::ranges::fill(zeros.data<float>(), 0.0F);
  }

  PackedProduct product;
  std::array<Taps, Window::kAxes> taps;
  InsideColumns inside;
  Tensor zeros;  // what taps in the padding read

  bool packs_in_runs() const { return !product.weights.has_value(); }
  /// Of the panels that a run packs.
  std::size_t packed_bytes() const {
    const std::int64_t floats = packs_in_runs() ? product.matrices * product.geometry.packed_floats() : 0;
    return round_up(static_cast<std::size_t>(floats) * sizeof(float), alignof(std::max_align_t));
  }
  /// Of a strip.
  std::size_t pointers() const { return static_cast<std::size_t>(product.geometry.strip * product.geometry.taps); }
  std::size_t tiles() const { return static_cast<std::size_t>(product.geometry.strip / product.geometry.tile_rows); }
  /// Of what a rank knows of a strip's rows.
  std::size_t row_bytes() const { return pointers() * sizeof(const float*) + tiles() * sizeof(std::size_t); }
};

/// Where the tiles of a strip read.
struct StripRows {
  const float** pointers;  ///< by tile, tap and row; of a tile with a step, one for each tap
  std::size_t* steps;      ///< by tile: ProductTile::step
};

class BoundProduct : public BoundLaunch {
 public:
  BoundProduct(const Prepared& prepared, const Bindings& bindings, std::byte* rows)
      : prepared_(prepared),
        g_(prepared.product.geometry),
        kernels_(*g_.kernels),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        output_(static_cast<float*>(bindings.outputs[0].data)),
        rows_(rows),
        packed_(prepared.packs_in_runs() ? reinterpret_cast<float*>(bindings.scratch) : nullptr),
        weights_(prepared.packs_in_runs() ? packed_ : prepared.product.weights->data<float>().data()),
        bias_(prepared.product.bias.data<float>().data()) {}

  void run() override {
    if (packed_ != nullptr) pack();
    parallel_for(g_.parts(), 1, [this](std::int64_t begin, std::int64_t end) {
      std::byte* own = rows_ + static_cast<std::size_t>(current_rank().rank) * prepared_.row_bytes();
      const auto pointers = reinterpret_cast<const float**>(own);
      const StripRows rows{pointers, reinterpret_cast<std::size_t*>(pointers + prepared_.pointers())};
      for (std::int64_t part = begin; part < end; ++part) run_part(part, rows);
    });
  }

 private:
  void pack() {
    const auto* weights = static_cast<const float*>(inputs_[1].data);
    const std::int64_t panels = g_.groups * g_.panels;  // of a matrix
    const std::int64_t elements = g_.groups * g_.out_channels * g_.in_channels * g_.taps;
    parallel_for(prepared_.product.matrices * panels, kParallelGrain / g_.panel_floats() + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     pack_panel(g_, weights + i / panels * elements, prepared_.product.input_strides, 1, i % panels,
                                packed_ + i * g_.panel_floats());
                 });
  }

  /// Parts of the same panels follow each other.
  void run_part(std::int64_t part, const StripRows& strip_rows) {
    const std::int64_t strip = part % g_.strips;
    const std::int64_t panels = part / g_.strips % g_.panel_groups;
    const std::int64_t group = part / (g_.strips * g_.panel_groups) % g_.groups;
    const std::int64_t image = part / (g_.strips * g_.panel_groups * g_.groups);
    const std::int64_t first = strip * g_.strip;
    const std::int64_t count = std::min(g_.strip, g_.pixels - first);
    const auto& first_pixels = prepared_.product.first_pixels;
    const std::int64_t before =
        first_pixels.empty() ? image * g_.window.inputs() : first_pixels[static_cast<std::size_t>(image)];
    const float* input =
        static_cast<const float*>(inputs_[0].data) + before * prepared_.product.pitches.in + group * g_.in_channels;
    const std::int64_t first_panel = panels_before(image) + group * g_.panels;
    point(input, first, count, strip_rows);
    const std::int64_t pitch = prepared_.product.pitches.out;
    float* output = output_ + (image * g_.pixels + first) * pitch;
    const std::int64_t from = panels * g_.part_panels;
    const std::int64_t to = std::min(from + g_.part_panels, g_.panels);
    const std::int64_t channel = group * g_.out_channels + from * g_.tile_columns;
    const std::int64_t width = std::min((to - from) * g_.tile_columns, g_.out_channels - from * g_.tile_columns);
    if (g_.section == g_.in_channels) {
      for (std::int64_t row = 0; row < count; row += g_.tile_rows) {
        const std::int64_t rows = std::min(g_.tile_rows, count - row);
        for (std::int64_t panel = from; panel < to; ++panel)
          run_tile({group, panel, first_panel + panel, 0}, row, rows, strip_rows, output);
        prepared_.product.operations.run(output + row * pitch + channel, image * g_.pixels + first + row, rows, channel,
                                         width, pitch, inputs_.data());
      }
      return;
    }
    for (std::int64_t start = 0; start < g_.in_channels; start += g_.section)
      for (std::int64_t panel = from; panel < to; ++panel)
        for (std::int64_t row = 0; row < count; row += g_.tile_rows)
          run_tile({group, panel, first_panel + panel, start}, row, std::min(g_.tile_rows, count - row), strip_rows,
                   output);
    prepared_.product.operations.run(output + channel, image * g_.pixels + first, count, channel, width, pitch,
                                     inputs_.data());
  }

  /// Of all matrices before the one that IMAGE is multiplied with.
  std::int64_t panels_before(std::int64_t image) const {
    const auto& matrices = prepared_.product.matrix_of_image;
    return matrices.empty() ? 0 : matrices[static_cast<std::size_t>(image)] * g_.panels;
  }

  struct Section {
    std::int64_t group;
    std::int64_t panel;   // of the group
    std::int64_t packed;  // the panel's place in the weights
    std::int64_t start;   // input channel
  };

  /// ROWS pixels from ROW of the strip on, whose first pixel is at OUTPUT.
  void run_tile(const Section& at, std::int64_t row, std::int64_t rows, const StripRows& strip, float* output) const {
    const std::int64_t pitch = prepared_.product.pitches.out;
    const std::int64_t column = at.panel * g_.tile_columns;
    kernels_.run({.rows = strip.pointers + row * g_.taps,
                  .step = strip.steps[row / g_.tile_rows],
                  .taps = static_cast<std::size_t>(g_.taps),
                  .first = static_cast<std::size_t>(at.start),
                  .depth = static_cast<std::size_t>(std::min(g_.section, g_.in_channels - at.start)),
                  .panel = weights_ + at.packed * g_.panel_floats() + at.start * g_.taps * g_.tile_columns,
                  .initial = at.start == 0 ? bias_ + (at.group * g_.panels + at.panel) * g_.tile_columns : nullptr,
                  .out = output + row * pitch + at.group * g_.out_channels + column,
                  .stride = static_cast<std::size_t>(pitch),
                  .height = static_cast<std::size_t>(rows),
                  .columns = static_cast<std::size_t>(std::min(g_.tile_columns, g_.out_channels - column))});
  }

  /// Where the taps of the COUNT pixels from FIRST on read.
  void point(const float* input, std::int64_t first, std::int64_t count, StripRows to) const {
    const std::int64_t step = g_.window.stride[2] * prepared_.product.pitches.in;
    for (std::int64_t done = 0; done < count; done += g_.tile_rows, to.pointers += g_.taps * g_.tile_rows, ++to.steps) {
      const std::int64_t pixel = first + done;
      const std::int64_t rows = std::min(g_.tile_rows, count - done);
      const std::int64_t x = pixel % g_.window.out[2];
      const bool is_inside = x >= prepared_.inside.first && x + rows <= prepared_.inside.last;
      const bool is_even = is_inside && point_row(input, pixel, {1, step, 1}, to.pointers);
      *to.steps = is_even ? static_cast<std::size_t>(step) : 0;
      if (is_even) continue;
      if (is_inside) {
        point_row(input, pixel, {rows, step, g_.tile_rows}, to.pointers);
      } else {
        for (std::int64_t row = 0; row < rows; ++row)
          point_row(input, pixel + row, {1, step, g_.tile_rows}, to.pointers + row);
      }
    }
  }

  struct LineRows {
    std::int64_t count;
    std::int64_t step;   // floats from one to the next
    std::int64_t apart;  // pointers from one tap to the next
  };

  /// Of ROWS pixels of a line, from PIXEL on, whose columns are all inside the input unless there is one pixel. Returns
  /// whether no tap is in the padding.
  bool point_row(const float* input, std::int64_t pixel, const LineRows& rows, const float** pointers) const {
    const Window& w = g_.window;
    const std::int64_t pitch = prepared_.product.pitches.in;
    const float* zeros = prepared_.zeros.data<float>().data();
    const std::int64_t x = pixel % w.out[2];
    const std::int64_t y = pixel / w.out[2] % w.out[1];
    const std::int64_t z = pixel / (w.out[2] * w.out[1]);
    bool all_read = true;
    for (std::int64_t a = 0; a < w.kernel[0]; ++a)
      for (std::int64_t b = 0; b < w.kernel[1]; ++b) {
        const std::int64_t depth = prepared_.taps[0].of(a)[z];
        const std::int64_t line = prepared_.taps[1].of(b)[y];
        const bool is_inside = depth >= 0 && line >= 0;
        const float* from = is_inside ? input + (depth * w.in[1] + line) * w.in[2] * pitch : zeros;
        for (std::int64_t c = 0; c < w.kernel[2]; ++c, pointers += rows.apart) {
          const std::int64_t column = prepared_.taps[2].of(c)[x];
          const bool reads = is_inside && column >= 0;
          all_read = all_read && reads;
          const float* at = reads ? from + column * pitch : zeros;
          for (std::int64_t row = 0; row < rows.count; ++row, at += reads ? rows.step : 0) pointers[row] = at;
        }
      }
    return all_read;
  }

  const Prepared& prepared_;
  const ProductGeometry& g_;
  const ProductKernels& kernels_;
  std::vector<TensorView> inputs_;
  float* output_;
  std::byte* rows_;  // by rank, of a strip
  float* packed_;    // null: the weights were packed by compile()
  const float* weights_;
  const float* bias_;
};

class ProductLaunch : public Launch {
 public:
  ProductLaunch(PackedProduct product, int threads) : prepared_(std::move(product)), threads_(std::max(threads, 1)) {}

  std::size_t scratch_bytes() const override {
    return prepared_.packed_bytes() + static_cast<std::size_t>(threads_) * prepared_.row_bytes();
  }
  std::string detail() const override {
    const ProductGeometry& g = prepared_.product.geometry;
    return fmt::format("{}x{} tiles, {} parts of {} pixels x {} channels", g.tile_rows, g.tile_columns, g.parts(),
                       g.strip, std::min(g.part_panels * g.tile_columns, g.out_channels));
  }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundProduct>(prepared_, bindings, bindings.scratch + prepared_.packed_bytes());
  }

 private:
  Prepared prepared_;
  int threads_;
};

}  // namespace

void divide(ProductGeometry& g, int threads) {
  // With few rows it is the latency of the multiply-adds that counts: wide panels have more accumulators.
  constexpr std::int64_t kFewRows = 4;
  g.kernels = g.pixels < kFewRows ? &product_kernels() : &product_kernels(g.out_channels);
  g.tile_rows = static_cast<std::int64_t>(g.kernels->rows);
  g.tile_columns = static_cast<std::int64_t>(g.kernels->columns);
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
  g.strip = std::max(g.strip, std::min(g.pixels, kParallelOperations / 4 / pixel_operations));
  g.strip = round_up(g.strip, g.tile_rows);
  g.strips = ceil_div(g.pixels, g.strip);
  // Few pixels: divided by channels instead.
  while (g.part_panels > 1 && g.images * g.groups * g.strips * ceil_div(g.panels, g.part_panels) < 2 * threads &&
         g.strip * pixel_operations > kParallelOperations)
    g.part_panels = ceil_div(g.part_panels, 2);
  g.panel_groups = ceil_div(g.panels, g.part_panels);
}

Tensor pack_weights(const NodeContext& context, const ProductGeometry& g, const Weights<float>& weights) {
  const std::string layout = fmt::format("{} {}x{} in {} panels of {}, {} taps, sections of {}", weights.layout(),
                                         g.groups, g.out_channels, g.panels, g.tile_columns, g.taps, g.section);
  const std::int64_t floats = weights.matrices * g.packed_floats();
  return context.pack_constant(1, layout, DType::kFloat32, floats, [&](Tensor& packed) {
    float* to = packed.data<float>().data();
    for (std::int64_t matrix = 0; matrix < weights.matrices; ++matrix)
      for (std::int64_t panel = 0; panel < g.groups * g.panels; ++panel, to += g.panel_floats())
        pack_panel(g, weights.elements + matrix * weights.matrix_stride, weights.steps, weights.factor, panel, to);
  });
}

std::unique_ptr<Launch> product_launch(PackedProduct product, int threads) {
  return std::make_unique<ProductLaunch>(std::move(product), threads);
}

}  // namespace saccade::cpu
