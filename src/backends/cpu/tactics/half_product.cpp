#include "cpu/tactics/half_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/integers.hpp"
#include "cpu/kernels/half_product_kernels.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/team/parallel.hpp"

// A part of the work is a strip of pixels times a group of panels, as in direct_product.cpp. Tiles multiply rows that
// are a constant stride apart, 32 elements of each at a time. Where pixels are not such rows, the part copies them:
// windows of few channels are unfolded; for others the lines of the input that the strip reads are copied with zeros
// around them, by phase of the stride, so that a tap is a constant offset for all pixels. Neighbouring lines of a patch
// share their padding, and tiles run across it: sums of pixels past the end of a line are dropped.
//
// Bound: multiply-adds / peak.
namespace saccade::cpu {
namespace {

constexpr std::int64_t kDepth = HalfStrip::kDepth;
constexpr std::int64_t kColumns = HalfStrip::kColumns;
constexpr std::int64_t kRows = HalfStrip::kRows;
static_assert(HalfStrip::kColumns == RowOperations::kTileColumns && HalfStrip::kRows == RowOperations::kTileRows);

// Of the panels, and of the rows, of a part of the work: together half of an L2 of 2 MiB.
constexpr std::int64_t kPartBytes = 512 << 10;
constexpr std::int64_t kPartsPerThread = 4;
// Elements of a copy of a few.
constexpr std::int64_t kCopied = 32;
// Elements of the patch of a line, so that offsets in one of several lines fit into 32 bits.
constexpr std::int64_t kMostPatch = 1 << 24;
constexpr std::int64_t kHalfBytes = sizeof(std::uint16_t);
// Multiply-adds of bfloat16 are several times as fast as those that kParallelOperations is for.
constexpr std::int64_t kGrain = 8 * kParallelOperations;

/// Along one axis, how far the taps of a patch reach: in pixels of a plane, which holds one phase of the stride.
std::int64_t reach(const Window& w, std::size_t axis) {
  std::int64_t most = 0;
  for (std::int64_t tap = 0; tap < w.kernel[axis]; ++tap)
    most = std::max(most, tap * w.dilation[axis] / w.stride[axis]);
  return most;
}

/// Whether column Q of the plane of PHASE is padding in all lines.
bool is_padding(const Window& w, std::int64_t phase, std::int64_t q) {
  const std::int64_t x = q * w.stride[2] + phase - w.pad_begin[2];
  return x < 0 || x >= w.in[2];
}

/// The least width of a patch: where a line's last columns and the next line's first ones are both padding, they are
/// the same pixels.
std::int64_t patch_width(const Window& w) {
  const std::int64_t most = w.out[2] + reach(w, 2);
  for (std::int64_t width = w.out[2]; width < most; ++width) {
    bool fits = true;
    for (std::int64_t phase = 0; phase < w.stride[2] && fits; ++phase)
      for (std::int64_t q = width; q < most && fits; ++q)
        fits = is_padding(w, phase, q) && is_padding(w, phase, q - width);
    if (fits) return width;
  }
  return most;
}

/// The element that a step of a panel multiplies; a tap of -1: none, it is zero.
struct Source {
  std::int64_t tap = -1;
  std::int64_t channel = 0;
};

Source source_of(const HalfGeometry& g, std::int64_t step, std::int64_t k) {
  if (g.rows == HalfRows::kPatch) {
    const std::int64_t channel = step / g.taps * g.depth + k;
    return channel < g.in_channels ? Source{step % g.taps, channel} : Source{};
  }
  const std::int64_t element = step * g.depth + k;
  return element < g.taps * g.in_channels ? Source{element / g.in_channels, element % g.in_channels} : Source{};
}

/// Packs panel PANEL (of all groups) of WEIGHTS to TO. Columns past the last output channel are zero.
void pack_half_panel(const HalfGeometry& g, const Weights<BFloat16>& weights, const BFloat16* elements,
                     std::int64_t panel, std::uint16_t* to) {
  const std::int64_t first = panel / g.panels * g.out_channels + panel % g.panels * kColumns;
  const std::int64_t width = std::min(kColumns, (panel / g.panels + 1) * g.out_channels - first);
  const WeightStrides& steps = weights.steps;
  for (std::int64_t step = 0; step < g.steps(); ++step, to += g.depth * kColumns)
    for (std::int64_t k = 0; k < g.depth; ++k) {
      const Source source = source_of(g, step, k);
      const BFloat16* from =
          elements + first * steps.out_channel + source.channel * steps.in_channel + source.tap * steps.tap;
      for (std::int64_t j = 0; j < kColumns; ++j) {
        std::uint16_t& place = to[half_panel_index(static_cast<std::size_t>(k), static_cast<std::size_t>(j),
                                                   static_cast<std::size_t>(g.depth))];
        if (source.tap < 0 || j >= width)
          place = 0;
        else if (weights.factor == 1.0F)
          place = from[j * steps.out_channel].bits;
        else
          place = BFloat16(from[j * steps.out_channel] * weights.factor).bits;
      }
    }
}

/// A product with what its runs need besides memory.
struct Prepared {
  explicit Prepared(PackedHalfProduct packed) : product(std::move(packed)), taps(taps_of(product.geometry.window)) {}

  PackedHalfProduct product;
  std::array<Taps, Window::kAxes> taps;

  bool packs_in_runs() const { return !product.weights.has_value(); }
  /// Of the panels that a run packs.
  std::size_t packed_bytes() const {
    const std::int64_t elements = packs_in_runs() ? product.matrices * product.geometry.packed_elements() : 0;
    return static_cast<std::size_t>(elements * kHalfBytes);
  }
  /// Of the lines that a pixel's taps read.
  std::size_t pointer_bytes() const {
    const Window& w = product.geometry.window;
    return static_cast<std::size_t>(round_up(w.kernel[0] * w.kernel[1] * std::int64_t{sizeof(void*)}, 64));
  }
  /// Of a rank: two tiles of sums, pointers and the copied rows.
  std::size_t rank_bytes() const {
    const std::int64_t copied = (product.geometry.copied_elements() + kCopied) * kHalfBytes;
    return 2 * HalfStrip::kTileBytes + pointer_bytes() + static_cast<std::size_t>(round_up(copied, 64));
  }
};

class BoundHalfProduct : public BoundLaunch {
 public:
  BoundHalfProduct(const Prepared& prepared, const Bindings& bindings, std::byte* ranks)
      : prepared_(prepared),
        g_(prepared.product.geometry),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        output_(static_cast<std::uint16_t*>(bindings.outputs[0].data)),
        ranks_(ranks),
        packed_(prepared.packs_in_runs() ? reinterpret_cast<std::uint16_t*>(bindings.scratch) : nullptr),
        weights_(prepared.packs_in_runs()
                     ? packed_
                     : reinterpret_cast<const std::uint16_t*>(prepared.product.weights->data<BFloat16>().data())),
        bias_(prepared.product.bias.data<float>().data()) {}

  void run() override {
    if (packed_ != nullptr) pack();
    const std::int64_t operations = 2 * g_.images * g_.pixels * g_.taps * g_.in_channels * g_.groups * g_.out_channels;
    parallel_for(g_.parts(), kGrain / (operations / g_.parts() + 1) + 1, [this](std::int64_t begin, std::int64_t end) {
      std::byte* own = ranks_ + static_cast<std::size_t>(current_rank().rank) * prepared_.rank_bytes();
      for (std::int64_t part = begin; part < end; ++part) run_part(part, own);
    });
  }

 private:
  /// All right operands of a GEMM.
  void pack() {
    const std::int64_t matrix = g_.in_channels * g_.out_channels;
    const auto* right = static_cast<const BFloat16*>(inputs_[1].data);
    const Weights<BFloat16> weights{right, {.out_channel = 1, .in_channel = g_.out_channels, .tap = 0}};
    parallel_for(prepared_.product.matrices * g_.panels, kParallelGrain / g_.panel_elements() + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     pack_half_panel(g_, weights, right + i / g_.panels * matrix, i % g_.panels,
                                     packed_ + i * g_.panel_elements());
                 });
  }

  /// The part of the output that a strip's sums belong to.
  struct Part {
    const BoundHalfProduct& product;
    std::int64_t image;
    std::int64_t first;  // pixel
    std::int64_t width;  // of a line of rows, pixels past the end included
    std::int64_t line;   // its pixels
    std::int64_t channel = 0;
    std::int64_t columns = 0;
  };

  /// Parts of the same panels follow each other.
  void run_part(std::int64_t part, std::byte* own) {
    const std::int64_t strip = part % g_.strips;
    const std::int64_t panels = part / g_.strips % g_.panel_groups;
    const std::int64_t group = part / (g_.strips * g_.panel_groups) % g_.groups;
    const std::int64_t image = part / (g_.strips * g_.panel_groups * g_.groups);
    const std::int64_t first = strip * g_.strip;
    const std::int64_t count = std::min(g_.strip, g_.pixels - first);
    const auto& first_pixels = prepared_.product.first_pixels;
    const std::int64_t before =
        first_pixels.empty() ? image * g_.window.inputs() : first_pixels[static_cast<std::size_t>(image)];
    const std::uint16_t* input =
        static_cast<const std::uint16_t*>(inputs_[0].data) + (before * g_.groups + group) * g_.in_channels;
    auto* sums = reinterpret_cast<float*>(own);
    own += 2 * HalfStrip::kTileBytes;
    auto** lines = reinterpret_cast<const std::uint16_t**>(own);
    auto* copied = reinterpret_cast<std::uint16_t*>(own + prepared_.pointer_bytes());
    const bool is_patch = g_.rows == HalfRows::kPatch;
    const std::int64_t line = is_patch ? g_.window.out[2] : count;
    Part at{*this, image, first, is_patch ? g_.patch_width : count, line};
    if (g_.rows == HalfRows::kUnfolded) unfold(input, first, count, lines, copied);
    if (is_patch) copy_patch(input, first / line, count / line, copied);
    HalfStrip tiles{.rows = g_.rows == HalfRows::kDirect ? input + first * g_.row_elements : copied,
                    .stride = static_cast<std::size_t>(g_.row_elements),
                    .height = static_cast<std::size_t>((count / line - 1) * at.width + line),
                    .offsets = g_.offsets.data(),
                    .steps = g_.offsets.size(),
                    .depth = static_cast<std::size_t>(g_.depth),
                    .panel = nullptr,
                    .initial = nullptr,
                    .sums = sums,
                    .finish = finish,
                    .data = &at};
    const std::int64_t end = std::min((panels + 1) * g_.part_panels, g_.panels);
    for (std::int64_t panel = panels * g_.part_panels; panel < end; ++panel) {
      at.channel = group * g_.out_channels + panel * kColumns;
      at.columns = std::min(kColumns, g_.out_channels - panel * kColumns);
      tiles.panel = weights_ + (panels_before(image) + group * g_.panels + panel) * g_.panel_elements();
      tiles.initial = bias_ + (group * g_.panels + panel) * kColumns;
      kernels_.run(tiles);
    }
  }

  /// Of all matrices before the one that IMAGE is multiplied with.
  std::int64_t panels_before(std::int64_t image) const {
    const auto& matrices = prepared_.product.matrix_of_image;
    return matrices.empty() ? 0 : matrices[static_cast<std::size_t>(image)] * g_.panels;
  }

  /// Post-ops of a tile's pixels, line by line, and their output.
  static void finish(void* data, std::size_t first_row, std::size_t rows, float* sums) {
    const Part& at = *static_cast<const Part*>(data);
    const auto end = static_cast<std::int64_t>(first_row + rows);
    for (auto row = static_cast<std::int64_t>(first_row); row < end;) {
      const std::int64_t x = row % at.width;
      const std::int64_t next = std::min(end, row - x + at.width);
      const std::int64_t count = std::min(next, row - x + at.line) - row;
      if (count > 0)
        at.product.store(at, at.image * at.product.g_.pixels + at.first + row / at.width * at.line + x, count,
                         sums + (row - static_cast<std::int64_t>(first_row)) * kColumns);
      row = next;
    }
  }

  void store(const Part& at, std::int64_t pixel, std::int64_t count, float* sums) const {
    const std::int64_t channels = g_.groups * g_.out_channels;
    prepared_.product.operations.finish_tile(sums, pixel, count, at.channel, at.columns, channels, inputs_.data(),
                                             output_);
  }

  /// The elements of all taps of COUNT pixels from FIRST on, line by line.
  void unfold(const std::uint16_t* input, std::int64_t first, std::int64_t count, const std::uint16_t** lines,
              std::uint16_t* to) const {
    const std::int64_t width = g_.window.out[2];
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t x = (first + done) % width;
      const std::int64_t pixels = std::min(width - x, count - done);
      point(input, (first + done) / width, lines);
      unfold_line(lines, x, pixels, to);
      to += pixels * g_.row_elements;
      done += pixels;
    }
  }

  /// The lines of the input that the windows of output line LINE read; null: padding.
  void point(const std::uint16_t* input, std::int64_t line, const std::uint16_t** lines) const {
    const Window& w = g_.window;
    for (std::int64_t a = 0; a < w.kernel[0]; ++a)
      for (std::int64_t b = 0; b < w.kernel[1]; ++b, ++lines) {
        const std::int64_t depth = prepared_.taps[0].of(a)[line / w.out[1]];
        const std::int64_t row = prepared_.taps[1].of(b)[line % w.out[1]];
        const std::int64_t before = (depth * w.in[1] + row) * w.in[2] * g_.groups * g_.in_channels;
        *lines = depth < 0 || row < 0 ? nullptr : input + before;
      }
  }

  /// COUNT pixels of an output line from X on.
  void unfold_line(const std::uint16_t* const* lines, std::int64_t x, std::int64_t count, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t channels = g_.groups * g_.in_channels;
    const std::uint16_t* end = static_cast<const std::uint16_t*>(inputs_[0].data) + inputs_[0].elements();
    // Neighbouring taps of one group are neighbours in memory.
    const bool together = g_.groups == 1 && w.dilation[2] == 1;
    const std::int64_t run = w.kernel[2] * g_.in_channels;
    const std::int64_t rest = g_.row_elements - g_.taps * g_.in_channels;
    for (const std::int64_t last = x + count; x < last; ++x, to += rest) {
      const std::int64_t column = x * w.stride[2] - w.pad_begin[2];
      const bool is_whole = together && column >= 0 && column + w.kernel[2] <= w.in[2];
      for (std::int64_t i = 0; i < w.kernel[0] * w.kernel[1]; ++i, to += run) {
        if (lines[i] == nullptr)
          std::fill_n(to, run, std::uint16_t{0});
        else if (is_whole)
          copy(lines[i] + column * channels, run, end, to);
        else
          copy_taps(lines[i], x, end, to);
      }
      std::fill_n(to, rest, std::uint16_t{0});
    }
  }

  /// The taps of output column X in one line of the input.
  void copy_taps(const std::uint16_t* from, std::int64_t x, const std::uint16_t* end, std::uint16_t* to) const {
    for (std::int64_t c = 0; c < g_.window.kernel[2]; ++c, to += g_.in_channels) {
      const std::int64_t column = prepared_.taps[2].of(c)[x];
      if (column < 0)
        std::fill_n(to, g_.in_channels, std::uint16_t{0});
      else
        copy(from + column * g_.groups * g_.in_channels, g_.in_channels, end, to);
    }
  }

  /// COUNT elements. A whole vector for a few, if it ends before END: what it writes past them is written next.
  static void copy(const std::uint16_t* from, std::int64_t count, const std::uint16_t* end, std::uint16_t* to) {
    if (count <= kCopied && end - from >= kCopied)
      std::memcpy(to, from, kCopied * sizeof(std::uint16_t));
    else
      std::copy_n(from, count, to);
  }

  /// The lines of the input that COUNT output lines from FIRST on read, by phase.
  void copy_patch(const std::uint16_t* input, std::int64_t first, std::int64_t count, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t line = g_.patch_width * g_.row_elements;
    const std::int64_t rest = (g_.patch_pixels - (count + g_.patch_lines) * g_.patch_width) * g_.row_elements;
    for (std::int64_t phase = 0; phase < w.stride[1] * w.stride[2]; ++phase) {
      for (std::int64_t q = first; q < first + count + g_.patch_lines; ++q, to += line) {
        const std::int64_t y = q * w.stride[1] + phase / w.stride[2] - w.pad_begin[1];
        if (y < 0 || y >= w.in[1])
          std::fill_n(to, line, std::uint16_t{0});
        else
          copy_line(input + y * w.in[2] * g_.groups * g_.in_channels, phase % w.stride[2], to);
      }
      std::fill_n(to, rest, std::uint16_t{0});
      to += rest;
    }
  }

  void copy_line(const std::uint16_t* line, std::int64_t phase, std::uint16_t* to) const {
    const Window& w = g_.window;
    const std::int64_t step = g_.groups * g_.in_channels;
    const std::int64_t rest = g_.row_elements - g_.in_channels;
    const auto column = [&](std::int64_t q) { return q * w.stride[2] + phase - w.pad_begin[2]; };
    std::int64_t q = 0;
    for (; q < g_.patch_width && column(q) < 0; ++q, to += g_.row_elements)
      std::fill_n(to, g_.row_elements, std::uint16_t{0});
    if (w.stride[2] == 1 && rest == 0 && step == g_.in_channels) {
      const std::int64_t pixels = std::clamp<std::int64_t>(w.in[2] - column(q), 0, g_.patch_width - q);
      std::copy_n(line + column(q) * step, pixels * step, to);
      q += pixels;
      to += pixels * step;
    }
    for (; q < g_.patch_width && column(q) < w.in[2]; ++q, to += rest) {
      to = std::copy_n(line + column(q) * step, g_.in_channels, to);
      std::fill_n(to, rest, std::uint16_t{0});
    }
    std::fill_n(to, (g_.patch_width - q) * g_.row_elements, std::uint16_t{0});
  }

  const HalfProductKernels& kernels_ = half_product_kernels();
  const Prepared& prepared_;
  const HalfGeometry& g_;
  std::vector<TensorView> inputs_;
  std::uint16_t* output_;
  std::byte* ranks_;
  std::uint16_t* packed_;  // null: the weights were packed by compile()
  const std::uint16_t* weights_;
  const float* bias_;
};

class HalfProductLaunch : public Launch {
 public:
  HalfProductLaunch(PackedHalfProduct product, int threads)
      : prepared_(std::move(product)), threads_(std::max(threads, 1)) {}

  std::size_t scratch_bytes() const override {
    return padded_packed() + static_cast<std::size_t>(threads_) * prepared_.rank_bytes();
  }
  std::string detail() const override {
    constexpr std::array<std::string_view, 3> kNames{"direct", "unfolded", "patches"};
    const HalfGeometry& g = prepared_.product.geometry;
    return fmt::format("{}, {}, {} parts of {} pixels x {} channels", half_product_kernels().name,
                       kNames[static_cast<std::size_t>(g.rows)], g.parts(), g.strip,
                       std::min(g.part_panels * kColumns, g.out_channels));
  }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundHalfProduct>(prepared_, bindings, bindings.scratch + padded_packed());
  }

 private:
  std::size_t padded_packed() const { return (prepared_.packed_bytes() + 63) / 64 * 64; }

  Prepared prepared_;
  int threads_;
};

/// Cycles of a pixel, of which a copied line of 64 bytes takes two and a step of a panel as many.
std::int64_t cost(std::int64_t steps, std::int64_t panels, std::int64_t copied_lines) {
  constexpr std::int64_t kCycles = 2;
  return kCycles * (steps * panels + copied_lines);
}

/// Elements of the fewest steps of equal length that CHANNELS channels are; 0: their number is odd.
std::int64_t equal_depth(std::int64_t channels) {
  for (std::int64_t steps = ceil_div(channels, kDepth); channels % 2 == 0; ++steps)
    if (channels % steps == 0 && channels / steps % 2 == 0) return channels / steps;
  return 0;
}

/// Steps over rows of ELEMENTS elements.
void add_steps(HalfGeometry& g, std::int64_t elements) {
  g.offsets.clear();
  for (std::int64_t first = 0; first < elements; first += g.depth)
    g.offsets.push_back(static_cast<std::int32_t>(first));
}

void lay_patch(HalfGeometry& g) {
  const Window& w = g.window;
  g.patch_width = patch_width(w);
  g.patch_lines = reach(w, 1);
  g.patch_pixels = (g.strip / w.out[2] + g.patch_lines) * g.patch_width + reach(w, 2);
  g.offsets.clear();
  for (std::int64_t block = 0; block < g.row_elements; block += g.depth)
    for (std::int64_t a = 0; a < w.kernel[1]; ++a)
      for (std::int64_t b = 0; b < w.kernel[2]; ++b) {
        const std::int64_t y = a * w.dilation[1];
        const std::int64_t x = b * w.dilation[2];
        const std::int64_t plane = y % w.stride[1] * w.stride[2] + x % w.stride[2];
        const std::int64_t pixel = plane * g.patch_pixels + y / w.stride[1] * g.patch_width + x / w.stride[2];
        g.offsets.push_back(static_cast<std::int32_t>(pixel * g.row_elements + block));
      }
}

void choose_rows(HalfGeometry& g) {
  const Window& w = g.window;
  const std::int64_t depth = equal_depth(g.in_channels);
  if (is_pointwise(w) && depth > 0) {
    g.rows = HalfRows::kDirect;
    g.row_elements = g.groups * g.in_channels;
    g.depth = depth;
    return add_steps(g, g.in_channels);
  }
  g.rows = HalfRows::kUnfolded;
  g.row_elements = round_up(g.taps * g.in_channels, kDepth);
  g.depth = kDepth;
  add_steps(g, g.row_elements);
  const std::int64_t phases = w.stride[1] * w.stride[2];
  if (w.taps() == 1 || w.out[1] == 1 || w.in[0] > 1 || w.kernel[0] > 1) return;
  if (phases * w.in[2] * w.extent(1) * w.extent(2) > kMostPatch / g.in_channels) return;
  const std::int64_t patch_depth = depth > 0 ? depth : kDepth;
  const std::int64_t steps = ceil_div(g.in_channels, patch_depth);
  const std::int64_t unfolded = cost(g.steps(), g.panels, g.steps());
  const std::int64_t patch =
      ceil_div(cost(steps * g.taps, g.panels, ceil_div(g.in_channels, kDepth) * phases) * patch_width(w), w.out[2]);
  if (patch >= unfolded) return;
  g.rows = HalfRows::kPatch;
  g.depth = patch_depth;
  g.row_elements = steps * patch_depth;
}

}  // namespace

std::int64_t HalfGeometry::panel_elements() const { return steps() * depth * kColumns; }

std::int64_t HalfGeometry::copied_elements() const {
  if (rows == HalfRows::kDirect) return 0;
  if (rows == HalfRows::kUnfolded) return strip * row_elements;
  return window.stride[1] * window.stride[2] * patch_pixels * row_elements;
}

HalfGeometry half_geometry(const Window& window, std::int64_t images, std::int64_t groups, std::int64_t in_channels,
                           std::int64_t out_channels, int threads) {
  HalfGeometry g{.window = window,
                 .images = images,
                 .groups = groups,
                 .in_channels = in_channels,
                 .out_channels = out_channels,
                 .taps = window.taps(),
                 .pixels = window.outputs(),
                 .panels = ceil_div(out_channels, kColumns)};
  choose_rows(g);
  const bool is_patch = g.rows == HalfRows::kPatch;
  const std::int64_t depth = is_patch ? g.row_elements * g.taps : g.steps() * g.depth;
  const std::int64_t panel_bytes = depth * kColumns * kHalfBytes;
  const std::int64_t pixel_bytes = kHalfBytes * g.row_elements * (is_patch ? window.stride[1] * window.stride[2] : 1);
  // Threads that share the pixels read all weights each, those that share the channels all pixels.
  const bool by_channels = g.panels * panel_bytes > g.pixels * pixel_bytes && g.panels >= 2 * threads;
  const std::int64_t most_panels = by_channels ? ceil_div(g.panels, 2 * threads) : g.panels;
  g.part_panels = std::clamp<std::int64_t>(kPartBytes / panel_bytes, 1, most_panels);
  g.part_panels = ceil_div(g.panels, ceil_div(g.panels, g.part_panels));
  // Whole tiles, or whole lines of a patch.
  const std::int64_t unit = is_patch ? window.out[2] : kRows;
  g.strip = std::clamp<std::int64_t>(kPartBytes / pixel_bytes, 4 * kRows, std::max(g.pixels, 4 * kRows));
  const std::int64_t others = images * groups * ceil_div(g.panels, g.part_panels);
  if (threads > 1 && !by_channels)
    g.strip = std::min(g.strip, ceil_div(g.pixels, std::max<std::int64_t>(1, threads * kPartsPerThread / others)));
  const std::int64_t pixel_operations = 2 * g.taps * g.in_channels * std::min(g.part_panels * kColumns, g.out_channels);
  g.strip = std::max(g.strip, std::min(g.pixels, kGrain / 4 / pixel_operations));
  g.strip = std::min(round_up(g.strip, unit), round_up(g.pixels, unit));
  g.strips = ceil_div(g.pixels, g.strip);
  // Few pixels: divided by channels instead.
  while (g.part_panels > 1 && images * groups * g.strips * ceil_div(g.panels, g.part_panels) < 2 * threads &&
         g.strip * pixel_operations > kGrain)
    g.part_panels = ceil_div(g.part_panels, 2);
  g.panel_groups = ceil_div(g.panels, g.part_panels);
  if (is_patch) lay_patch(g);
  return g;
}

Tensor pack_half_weights(const NodeContext& context, const HalfGeometry& g, const Weights<BFloat16>& weights) {
  const std::int64_t elements = weights.matrices * g.packed_elements();
  if (context.budget != nullptr) context.budget->take(static_cast<std::size_t>(elements * kHalfBytes));
  Tensor packed(DType::kBFloat16, Shape{elements});
  auto* to = reinterpret_cast<std::uint16_t*>(packed.data<BFloat16>().data());
  for (std::int64_t matrix = 0; matrix < weights.matrices; ++matrix)
    for (std::int64_t panel = 0; panel < g.groups * g.panels; ++panel, to += g.panel_elements())
      pack_half_panel(g, weights, weights.elements + matrix * weights.matrix_stride, panel, to);
  return packed;
}

Tensor padded_half_bias(const HalfGeometry& g, const Tensor* bias, float factor) {
  Tensor padded(DType::kFloat32, Shape{g.groups * g.panels * kColumns});
  const auto to = padded.data<float>();
  std::ranges::fill(to, 0.0F);
  if (bias == nullptr) return padded;
  const auto given = bias->data<BFloat16>();
  for (std::int64_t channel = 0; channel < g.groups * g.out_channels; ++channel) {
    const std::int64_t group = channel / g.out_channels;
    to[static_cast<std::size_t>(group * g.panels * kColumns + channel % g.out_channels)] =
        given[static_cast<std::size_t>(channel)] * factor;
  }
  return padded;
}

std::unique_ptr<Launch> half_product_launch(PackedHalfProduct product, int threads) {
  return std::make_unique<HalfProductLaunch>(std::move(product), threads);
}

}  // namespace saccade::cpu
