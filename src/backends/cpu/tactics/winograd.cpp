#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

#include "base/integers.hpp"
#include "cpu/kernels/half_product_kernels.hpp"
#include "cpu/kernels/product_kernels.hpp"
#include "cpu/kernels/winograd_kernels.hpp"
#include "cpu/loops/half_rows.hpp"
#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/direct_product.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/nan_watch.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/layers/winograd_window.hpp"

// Conv with 3x3 windows by Winograd's F(4x4, 3x3): a quarter of the direct convolution's multiplications. A part of the
// work is a strip of tiles. Its transformed pixels and the sums of a group of output channels stay in L2; the
// transformed weights, which are four times as large as the filters, are read once per strip.
//
// Elements that are not finite would make pixels of the same tile NaN that don't read them. The plan is then run again
// with the direct convolution (BoundLaunch::run_keeping_nan), which packs its weights again: kept for such runs alone
// they would take a fifth of a model's memory.
//
// Tensors of bfloat16 are transformed, multiplied and summed in float32. Output pixels pass through a few lines of
// float32, to which the post-ops apply before they are rounded. Their direct convolution keeps its weights, which are
// an eighth of the transformed ones.
//
// Bound: 4.5 operations per output element and input channel / multiply-add peak, and the transforms.
namespace saccade::cpu {
namespace {

constexpr auto kPositions = static_cast<std::int64_t>(WinogradKernels::kPositions);
constexpr auto kInputs = static_cast<std::int64_t>(WinogradKernels::kInputs);
constexpr auto kOutputs = static_cast<std::int64_t>(WinogradKernels::kOutputs);
// Of a strip's pixels and sums, transformed: most of an L2 of 512 KiB.
constexpr std::int64_t kPartBytes = 320 << 10;
constexpr std::int64_t kGroupColumns = 64;
// Floats between positions beyond their tiles: otherwise they would fall into few sets of L1d. A vector, as
// transform_output() reads the last channels of a tile in whole vectors.
constexpr std::int64_t kSkew = 16;
// Output pixels of a line of tiles that RowOperations::finish_tile() takes at once, and their lines.
constexpr auto kLinePixels = static_cast<std::int64_t>(RowOperations::kTileRows);
constexpr auto kLineColumns = static_cast<std::int64_t>(RowOperations::kTileColumns);
constexpr std::int64_t kLineFloats = kOutputs * kLinePixels * kLineColumns;

struct Geometry {
  std::int64_t images;
  std::int64_t in_channels;
  std::int64_t out_channels;
  std::int64_t in_height;
  std::int64_t in_width;
  std::int64_t out_height;
  std::int64_t out_width;
  std::int64_t pad_top;
  std::int64_t pad_left;
  PixelPitches pitches;

  const ProductKernels* kernels = nullptr;
  std::int64_t tile_rows = 0;
  std::int64_t tile_columns = 0;
  std::int64_t down = 0;  // Winograd tiles of an image
  std::int64_t across = 0;
  std::int64_t strip = 0;  // Winograd tiles of a part
  std::int64_t parts = 0;
  std::int64_t panels = 0;  // of output channels
  std::int64_t group = 0;   // panels whose sums a part holds at once

  std::int64_t tiles() const { return images * down * across; }
  std::int64_t row() const { return round_up(in_channels, 16); }  // floats of a tile's position
  std::int64_t sum_row() const { return group * tile_columns; }
  std::int64_t step() const { return strip * row() + kSkew; }  // floats from one position to the next
  std::int64_t sum_step() const { return strip * sum_row() + kSkew; }
  std::int64_t panel_floats() const { return in_channels * tile_columns; }
  std::int64_t packed_floats() const { return kPositions * panels * panel_floats(); }
  /// Scratch floats of a rank: transformed pixels, sums, and outputs: those that are outside the image, or lines of
  /// bfloat16 pixels.
  std::int64_t rank_floats() const { return kPositions * (step() + sum_step()) + std::max(sum_row(), kLineFloats); }
};

/// Of a Conv with a 3x3 window that moves by one pixel; nullopt for another, and without pixels.
std::optional<Geometry> geometry_of(const NodeContext& context) {
  const Shape& input = context.input(0).type.shape;
  const Shape& weights = context.input(1).type.shape;
  if (input.rank() != 4 || context.node.attributes.integer("group", 1) != 1) return std::nullopt;
  const Window window = slide(context.node.attributes, input, kernel_of(context.node.attributes, weights));
  if (!is_winograd_window(window)) return std::nullopt;
  Geometry g{.images = input[0],
             .in_channels = weights[1],
             .out_channels = weights[0],
             .in_height = window.in[1],
             .in_width = window.in[2],
             .out_height = window.out[1],
             .out_width = window.out[2],
             .pad_top = window.pad_begin[1],
             .pad_left = window.pad_begin[2],
             .pitches = pixel_pitches(context)};
  g.kernels = &product_kernels(g.out_channels);
  g.tile_rows = static_cast<std::int64_t>(g.kernels->rows);
  g.tile_columns = static_cast<std::int64_t>(g.kernels->columns);
  g.down = ceil_div(g.out_height, kOutputs);
  g.across = ceil_div(g.out_width, kOutputs);
  g.panels = ceil_div(g.out_channels, g.tile_columns);
  g.group = std::min(g.panels, std::max<std::int64_t>(1, kGroupColumns / g.tile_columns));
  if (g.tiles() == 0) return std::nullopt;
  const std::int64_t tile_bytes = kPositions * (g.row() + g.sum_row()) * 4;
  const std::int64_t most = std::max<std::int64_t>(1, kPartBytes / tile_bytes / g.tile_rows) * g.tile_rows;
  // As many parts as there are threads, or a multiple.
  const std::int64_t parts = round_up(ceil_div(g.tiles(), most), std::max(context.threads, 1));
  g.strip = ceil_div(g.tiles(), parts);
  g.parts = ceil_div(g.tiles(), g.strip);
  return g;
}

/// What all executions share.
struct PackedWinograd {
  Geometry geometry;
  Tensor weights;  // by position, panel, input channel and column
  Tensor bias;
  Tensor zeros;  // a pixel of the padding
  RowOperations operations;
};

void transform_filters(const Geometry& g, const float* weights, std::span<float> to) {
  std::ranges::fill(to, 0.0F);
  constexpr auto kFilters = static_cast<std::int64_t>(kWinogradFilters);
  for (std::int64_t panel = 0; panel < g.panels; ++panel, weights += g.tile_columns * g.in_channels * 9) {
    const std::int64_t width = std::min(g.tile_columns, g.out_channels - panel * g.tile_columns);
    for (std::int64_t in = 0; in < g.in_channels; ++in)
      for (std::int64_t out = 0; out < width; out += kFilters)
        winograd_filters(weights + (out * g.in_channels + in) * 9, static_cast<std::size_t>(g.in_channels * 9),
                         static_cast<std::size_t>(std::min(kFilters, width - out)),
                         to.data() + panel * g.panel_floats() + in * g.tile_columns + out,
                         static_cast<std::size_t>(g.panels * g.panel_floats()));
  }
}

Tensor packed_weights(const NodeContext& context, const Geometry& g) {
  const std::string layout = fmt::format("F({0}x{0}, 3x3) {1} panels of {2}", kOutputs, g.panels, g.tile_columns);
  return context.pack_constant(1, layout, DType::kFloat32, g.packed_floats(), [&](Tensor& packed) {
    const Tensor& filters = *context.constant(1);
    if (filters.dtype() == DType::kFloat32)
      transform_filters(g, filters.data<float>().data(), packed.data<float>());
    else
      transform_filters(g, floats_of(filters).data(), packed.data<float>());
  });
}

/// ELEMENT: float, or the bits of a bfloat16.
template <typename Element>
class BoundWinograd : public BoundLaunch {
 public:
  BoundWinograd(const PackedWinograd& packed, std::unique_ptr<BoundLaunch> direct, const Bindings& bindings)
      : packed_(packed),
        g_(packed.geometry),
        kernels_(*g_.kernels),
        direct_(std::move(direct)),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        output_(static_cast<Element*>(bindings.outputs[0].data)),
        scratch_(reinterpret_cast<float*>(bindings.scratch)),
        initial_(static_cast<std::size_t>(g_.tile_columns), 0.0F) {}

  void run() override {
    is_finite_.store(true, std::memory_order_relaxed);
    parallel_for(g_.parts, 1, [this](std::int64_t begin, std::int64_t end) {
      float* own = scratch_ + current_rank().rank * g_.rank_floats();
      for (std::int64_t part = begin; part < end; ++part) run_part(part, own);
    });
    if (!is_finite_.load(std::memory_order_relaxed)) note_nan();
  }
  bool may_lose_nan() const override { return true; }
  void run_keeping_nan() override { direct_->run(); }

 private:
  /// A tile's first output pixel.
  struct Place {
    std::int64_t image;
    std::int64_t y;
    std::int64_t x;
  };
  Place place(std::int64_t tile) const {
    const std::int64_t of_image = g_.down * g_.across;
    return {tile / of_image, tile % of_image / g_.across * kOutputs, tile % g_.across * kOutputs};
  }

  void run_part(std::int64_t part, float* own) {
    const std::int64_t first = part * g_.strip;
    const std::int64_t count = std::min(g_.strip, g_.tiles() - first);
    for (std::int64_t i = 0; i < count; ++i) transform_input(place(first + i), own + i * g_.row());
    float* sums = own + kPositions * g_.step();
    for (std::int64_t panel = 0; panel < g_.panels; panel += g_.group) {
      const std::int64_t panels = std::min(g_.group, g_.panels - panel);
      for (std::int64_t position = 0; position < kPositions; ++position)
        for (std::int64_t i = 0; i < panels; ++i) multiply(position, panel + i, count, own, sums + i * g_.tile_columns);
      const std::int64_t channel = panel * g_.tile_columns;
      const std::int64_t width = std::min(panels * g_.tile_columns, g_.out_channels - channel);
      write(first, count, channel, width, sums, sums + kPositions * g_.sum_step());
    }
  }

  void transform_input(const Place& at, float* to) const {
    std::array<const Element*, WinogradKernels::kPositions> pixels{};
    const Element* image =
        static_cast<const Element*>(inputs_[0].data) + at.image * g_.in_height * g_.in_width * g_.pitches.in;
    const auto* zeros = reinterpret_cast<const Element*>(packed_.zeros.raw());
    for (std::int64_t i = 0; i < kInputs; ++i) {
      const std::int64_t y = at.y - g_.pad_top + i;
      for (std::int64_t j = 0; j < kInputs; ++j) {
        const std::int64_t x = at.x - g_.pad_left + j;
        const bool is_inside = y >= 0 && y < g_.in_height && x >= 0 && x < g_.in_width;
        pixels[static_cast<std::size_t>(i * kInputs + j)] =
            is_inside ? image + (y * g_.in_width + x) * g_.pitches.in : zeros;
      }
    }
    const auto transform = [&] {
      if constexpr (kIsHalf)
        return transforms_.transform_half_input;
      else
        return transforms_.transform_input;
    }();
    transform(pixels.data(), static_cast<std::size_t>(g_.in_channels), to, static_cast<std::size_t>(g_.step()));
  }

  /// A position's sums of COUNT tiles and the output channels of PANEL, to SUMS of position 0.
  void multiply(std::int64_t position, std::int64_t panel, std::int64_t count, const float* own, float* sums) const {
    const float* tiles = own + position * g_.step();
    const float* weights = packed_.weights.data<float>().data() + (position * g_.panels + panel) * g_.panel_floats();
    for (std::int64_t first = 0; first < count; first += g_.tile_rows) {
      const float* row = tiles + first * g_.row();
      kernels_.run({.rows = &row,
                    .step = static_cast<std::size_t>(g_.row()),
                    .taps = 1,
                    .first = 0,
                    .depth = static_cast<std::size_t>(g_.in_channels),
                    .panel = weights,
                    .initial = initial_.data(),
                    .out = sums + position * g_.sum_step() + first * g_.sum_row(),
                    .stride = static_cast<std::size_t>(g_.sum_row()),
                    .height = static_cast<std::size_t>(std::min(g_.tile_rows, count - first)),
                    .columns = static_cast<std::size_t>(g_.tile_columns)});
    }
  }

  /// The output pixels of COUNT tiles: WIDTH channels from CHANNEL on. OWN is memory of outputs.
  void write(std::int64_t first, std::int64_t count, std::int64_t channel, std::int64_t width, const float* sums,
             float* own) {
    if constexpr (kIsHalf) {
      write_lines(first, count, channel, width, sums, own);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        write_tile(place(first + i), sums + i * g_.sum_row(), channel, width, own);
      apply(first, count, channel, width);
    }
  }

  /// In place. OUTSIDE takes the pixels that are not in the image.
  void write_tile(const Place& at, const float* sums, std::int64_t channel, std::int64_t width, float* outside) {
    const auto place_of = [&](std::int64_t y, std::int64_t x) {
      const bool is_inside = at.y + y < g_.out_height && at.x + x < g_.out_width;
      return is_inside ? output_ + pixel(at.image, at.y + y, at.x + x) * g_.pitches.out + channel : outside;
    };
    transform_output(sums, channel, width, place_of);
  }

  /// Neighbouring tiles line by line: their pixels in float32 in LINES, then the post-ops and the rounding.
  void write_lines(std::int64_t first, std::int64_t count, std::int64_t channel, std::int64_t width, const float* sums,
                   float* lines) {
    for (std::int64_t done = 0; done < count;) {
      const Place at = place(first + done);
      const std::int64_t neighbours =
          std::min({count - done, g_.across - (first + done) % g_.across, kLinePixels / kOutputs});
      const std::int64_t pixels = std::min(neighbours * kOutputs, g_.out_width - at.x);
      const std::int64_t height = std::min(kOutputs, g_.out_height - at.y);
      for (std::int64_t c = 0; c < width; c += kLineColumns) {
        const std::int64_t columns = std::min(kLineColumns, width - c);
        for (std::int64_t i = 0; i < neighbours; ++i)
          transform_output(sums + (done + i) * g_.sum_row() + c, channel + c, columns,
                           [&](std::int64_t y, std::int64_t x) {
                             return lines + (y * kLinePixels + i * kOutputs + x) * kLineColumns;
                           });
        for (std::int64_t y = 0; y < height; ++y)
          packed_.operations.finish_tile(lines + y * kLinePixels * kLineColumns, pixel(at.image, at.y + y, at.x),
                                         pixels, channel + c, columns, g_.pitches.out, inputs_.data(), output_);
      }
      done += neighbours;
    }
  }

  /// A tile's WIDTH channels from CHANNEL on; PLACE_OF(line, column) is the place of a pixel.
  template <typename PlaceOf>
  void transform_output(const float* sums, std::int64_t channel, std::int64_t width, const PlaceOf& place_of) {
    std::array<float*, WinogradKernels::kOutputs * WinogradKernels::kOutputs> pixels{};
    for (std::int64_t y = 0; y < kOutputs; ++y)
      for (std::int64_t x = 0; x < kOutputs; ++x) pixels[static_cast<std::size_t>(y * kOutputs + x)] = place_of(y, x);
    const bool is_finite =
        transforms_.transform_output(sums, static_cast<std::size_t>(g_.sum_step()), static_cast<std::size_t>(width),
                                     packed_.bias.data<float>().data() + channel, pixels.data());
    if (!is_finite) is_finite_.store(false, std::memory_order_relaxed);
  }

  /// The post-ops, for neighbouring tiles line by line.
  void apply(std::int64_t first, std::int64_t count, std::int64_t channel, std::int64_t width) const {
    for (std::int64_t tile = first; tile < first + count;) {
      const Place at = place(tile);
      const std::int64_t neighbours = std::min(first + count - tile, g_.across - tile % g_.across);
      const std::int64_t pixels = std::min(neighbours * kOutputs, g_.out_width - at.x);
      for (std::int64_t y = at.y; y < std::min(at.y + kOutputs, g_.out_height); ++y) {
        const std::int64_t row = pixel(at.image, y, at.x);
        packed_.operations.run(output_ + row * g_.pitches.out + channel, row, pixels, channel, width, g_.pitches.out,
                               inputs_.data());
      }
      tile += neighbours;
    }
  }

  std::int64_t pixel(std::int64_t image, std::int64_t y, std::int64_t x) const {
    return (image * g_.out_height + y) * g_.out_width + x;
  }

  static constexpr bool kIsHalf = std::is_same_v<Element, std::uint16_t>;

  const WinogradKernels& transforms_ = winograd_kernels();
  const PackedWinograd& packed_;
  const Geometry& g_;
  const ProductKernels& kernels_;
  std::unique_ptr<BoundLaunch> direct_;
  std::vector<TensorView> inputs_;
  Element* output_;
  float* scratch_;
  std::vector<float> initial_;
  std::atomic<bool> is_finite_{true};
};

/// Whether the transformed weights fit into the memory that CONTEXT's model may take.
bool fits(const NodeContext& context, const Geometry& g) {
  try {
    if (context.budget != nullptr) context.budget->check(static_cast<std::size_t>(g.packed_floats()) * sizeof(float));
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <typename Element>
class WinogradLaunch : public Launch {
 public:
  WinogradLaunch(PackedWinograd packed, std::unique_ptr<Launch> direct, int threads)
      : packed_(std::move(packed)), direct_(std::move(direct)), threads_(std::max(threads, 1)) {}

  std::size_t scratch_bytes() const override {
    return std::max(static_cast<std::size_t>(threads_ * packed_.geometry.rank_floats()) * sizeof(float),
                    direct_->scratch_bytes());
  }
  std::string detail() const override {
    const Geometry& g = packed_.geometry;
    return fmt::format("F(4x4, 3x3), {} parts of {} tiles", g.parts, g.strip);
  }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundWinograd<Element>>(packed_, direct_->bind(bindings), bindings);
  }

 private:
  PackedWinograd packed_;
  std::unique_ptr<Launch> direct_;
  int threads_;
};

class Winograd : public Tactic {
 public:
  explicit Winograd(DType dtype) : dtype_(dtype) {}

  std::string_view name() const override { return is_half() ? "bf16.winograd" : "vector.winograd"; }

  Support supports(const NodeContext& context) const override {
    if (Support direct = supports_convolution(context, dtype_); !direct) return direct;
    return geometry_of(context) ? Support{} : Support::no("its window is not 3x3 with a stride of 1");
  }

  bool supports_strided_operands(const NodeContext& context) const override { return has_pixel_pitches(context); }

  /// Where the transforms, and reading four times the weights, cost less than the multiplications that they save.
  bool leads(const NodeContext& context) const override {
    if (!context.node.is("Conv") || context.input(0).type.dtype != dtype_) return false;
    const auto g = geometry_of(context);
    if (!g || g->in_channels < least_channels()) return false;
    const std::int64_t bytes = g->packed_floats() * 4;
    if (bytes > kMostWeightBytes) return false;
    return g->tiles() >= (bytes <= kWeightBytesInCache ? kLeastTiles : kLeastTilesFromMemory) * context.threads / 2;
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Geometry g = *geometry_of(context);
    // The direct convolution has fewer weights.
    if (!fits(context, g)) return direct().compile(context);
    Tensor zeros(DType::kFloat32, Shape{g.in_channels});
    std::ranges::fill(zeros.data<float>(), 0.0F);
    PackedWinograd packed{.geometry = g,
                          .weights = packed_weights(context, g),
                          .bias = padded_bias(1, g.out_channels, g.out_channels, context.constant(2)),
                          .zeros = std::move(zeros),
                          .operations = convolution_operations(context)};
    if (is_half())
      return std::make_unique<WinogradLaunch<std::uint16_t>>(std::move(packed), direct().compile(context),
                                                             context.threads);
    return std::make_unique<WinogradLaunch<float>>(std::move(packed), repacking_convolution(context), context.threads);
  }

 private:
  bool is_half() const { return dtype_ == DType::kBFloat16; }
  const Tactic& direct() const { return is_half() ? bf16_convolution() : vector_convolution(); }

  /// Measured with AVX2 and AVX-512 on convolutions of 3 to 512 input and 1 to 512 output channels, and 7 to 320 pixels
  /// a side. Where products of bfloat16 are faster than those of float32, they are twice as fast, and with AMX many
  /// times.
  std::int64_t least_channels() const {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    if (!is_half() || half_product_kernels().name == "widening") return 8;
    return half_product_kernels().name == "avx512_bf16" ? 32 : kNever;
  }
  static constexpr std::int64_t kWeightBytesInCache = 1 << 20;
  static constexpr std::int64_t kMostWeightBytes = 10 << 20;
  static constexpr std::int64_t kLeastTiles = 4;  // of two threads
  static constexpr std::int64_t kLeastTilesFromMemory = 20;

  DType dtype_;
};

}  // namespace

const Tactic& bf16_winograd() {
  static const Winograd tactic(DType::kBFloat16);
  return tactic;
}

const Tactic& vector_winograd() {
  static const Winograd tactic(DType::kFloat32);
  return tactic;
}

}  // namespace saccade::cpu
