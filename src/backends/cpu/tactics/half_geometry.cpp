#include <algorithm>
#include <optional>

#include "base/integers.hpp"
#include "cpu/kernels/half_product_kernels.hpp"
#include "cpu/tactics/half_product.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/team/parallel.hpp"

// How a bfloat16 product makes its rows, how it is divided, and how its weights are packed for that.
namespace saccade::cpu {
namespace {

constexpr std::int64_t kDepth = HalfStrip::kDepth;
constexpr std::int64_t kColumns = HalfStrip::kColumns;
constexpr std::int64_t kRows = HalfStrip::kRows;
constexpr std::int64_t kHalfBytes = sizeof(std::uint16_t);

// Of the panels, and of the rows, of a part of the work: together half of an L2 of 2 MiB.
constexpr std::int64_t kPartBytes = 512 << 10;
constexpr std::int64_t kPartsPerThread = 4;
// Elements of the patch of a line, so that offsets in one of several lines fit into 32 bits.
constexpr std::int64_t kMostPatch = 1 << 24;

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

/// The fewest steps of an equal, even length that adjacent elements are. The last one ends with them. What it shares
/// with the step before has half of its weight in each: that is exact, and infinity times it stays infinity.
struct Run {
  std::int64_t elements;
  std::int64_t depth;

  std::int64_t steps() const { return ceil_div(elements, depth); }
  std::int64_t start(std::int64_t step) const { return std::min(step * depth, elements - depth); }
  bool is_shared(std::int64_t element) const { return element >= elements - depth && element < (steps() - 1) * depth; }
};

/// ELEMENTS: at least two.
Run run_of(std::int64_t elements) {
  for (std::int64_t steps = ceil_div(elements, kDepth);; ++steps)
    if (const std::int64_t depth = round_up(ceil_div(elements, steps), 2); depth <= elements) return {elements, depth};
}

/// The element that a step of a panel multiplies; a tap of -1: none, it is zero.
struct Source {
  std::int64_t tap = -1;
  std::int64_t channel = 0;
  bool is_shared = false;  // with another step
};

/// Of a copied pixel of kPatch and kLines.
std::int64_t even_channels(const HalfGeometry& g) { return round_up(g.in_channels, 2); }

/// The adjacent elements that are divided into steps: of a tap, or of kLines of all taps of a line.
Run run_of(const HalfGeometry& g) {
  if (g.rows == RowSource::kDirect) return {g.in_channels, g.depth};
  if (g.rows == RowSource::kLines) return {g.window.kernel[2] * even_channels(g), g.depth};
  return {g.row_elements, g.depth};
}

Source source_of(const HalfGeometry& g, std::int64_t step, std::int64_t k) {
  const Run run = run_of(g);
  if (g.rows == RowSource::kUnfolded) {
    const std::int64_t element = step * g.depth + k;
    return element < g.taps * g.in_channels ? Source{element / g.in_channels, element % g.in_channels} : Source{};
  }
  if (g.rows == RowSource::kLines) {
    const std::int64_t channels = even_channels(g);
    const std::int64_t element = run.start(step % run.steps()) + k;
    const std::int64_t tap = step / run.steps() * g.window.kernel[2] + element / channels;
    return element % channels < g.in_channels ? Source{tap, element % channels, run.is_shared(element)} : Source{};
  }
  const std::int64_t channel = run.start(step / g.taps) + k;
  return channel < g.in_channels ? Source{step % g.taps, channel, run.is_shared(channel)} : Source{};
}

// Costs of an output pixel, in sixteenths of a cycle.

/// Of a step two cycles per panel, however few elements it has: AMX takes a cycle for each row of a tile.
std::int64_t product_cost(const HalfGeometry& g, std::int64_t steps) { return steps * kDepth * g.panels; }

// Per element. Measured: calls for a few elements each take most of the time of unfolding.
constexpr std::int64_t kCopyCost = 1;
constexpr std::int64_t kUnfoldCost = 6;

void lay_patch(HalfGeometry& g) {
  const Window& w = g.window;
  g.patch_lines = reach(w, 1);
  g.patch_pixels = (g.strip / w.out[2] + g.patch_lines) * g.patch_width + reach(w, 2);
  const Run run = run_of(g);
  g.offsets.clear();
  for (std::int64_t block = 0; block < run.steps(); ++block)
    for (std::int64_t a = 0; a < w.kernel[1]; ++a)
      for (std::int64_t b = 0; b < w.kernel[2]; ++b) {
        const std::int64_t y = a * w.dilation[1];
        const std::int64_t x = b * w.dilation[2];
        const std::int64_t plane = y % w.stride[1] * w.stride[2] + x % w.stride[2];
        const std::int64_t pixel = plane * g.patch_pixels + y / w.stride[1] * g.patch_width + x / w.stride[2];
        g.offsets.push_back(static_cast<std::int32_t>(pixel * g.row_elements + run.start(block)));
      }
}

/// Input columns that the windows of an output line read.
std::int64_t columns_read(const Window& w) { return (w.out[2] - 1) * w.stride[2] + w.kernel[2]; }

/// The least number of rows of a line of kLines: as patch_width(), neighbouring lines share their padding.
std::int64_t line_width(const Window& w) {
  const std::int64_t most = ceil_div(columns_read(w), w.stride[2]);
  for (std::int64_t width = w.out[2]; width < most; ++width) {
    const std::int64_t columns = width * w.stride[2];
    if (columns >= w.in[2] + w.pad_begin[2] && columns_read(w) - columns <= w.pad_begin[2]) return width;
  }
  return most;
}

/// Planes hold the lines of one phase of the stride each. The rows of a line start at every stride[2]-th pixel.
void lay_lines(HalfGeometry& g) {
  const Window& w = g.window;
  g.patch_lines = reach(w, 1);
  g.patch_pixels = (g.strip / w.out[2] + g.patch_lines - 1) * g.patch_width + ceil_div(columns_read(w), w.stride[2]);
  const Run run = run_of(g);
  g.offsets.clear();
  for (std::int64_t a = 0; a < w.kernel[1]; ++a)
    for (std::int64_t step = 0; step < run.steps(); ++step) {
      const std::int64_t y = a * w.dilation[1];
      const std::int64_t row = y % w.stride[1] * g.patch_pixels + y / w.stride[1] * g.patch_width;
      g.offsets.push_back(static_cast<std::int32_t>(row * g.row_elements + run.start(step)));
    }
}

/// How often a part copies its rows: for each group of panels that fits into the cache.
std::int64_t copies(const HalfGeometry& g, std::int64_t steps, std::int64_t depth) {
  return ceil_div(g.panels * steps * depth * kColumns * kHalfBytes, kPartBytes);
}

/// Whether a patch can be laid out: windows of two axes, not too far apart for the offsets of its steps.
bool can_copy_patches(const HalfGeometry& g) {
  constexpr std::int64_t kMostReach = 512;
  constexpr std::int64_t kMostPhases = 64;
  const Window& w = g.window;
  if (w.taps() == 1 || w.out[1] == 1 || w.in[0] > 1 || w.kernel[0] > 1 || w.out[0] > 1) return false;
  if (reach(w, 1) > kMostReach || reach(w, 2) > kMostReach) return false;
  const std::int64_t phases = w.stride[1] * w.stride[2];
  if (w.stride[1] > kMostPhases || phases > kMostPhases) return false;
  return patch_width(w) * (1 + reach(w, 1)) <= kMostPatch / (phases * round_up(g.in_channels, kDepth));
}

/// One way to make the rows, with its cost. The functions below return nothing for a window that can't have it.
struct RowChoice {
  RowSource rows;
  std::int64_t row_elements;
  std::int64_t depth;
  std::int64_t steps;
  std::int64_t width;  // rows of a line of a patch
  std::int64_t cost;
};

RowChoice unfolded(const HalfGeometry& g) {
  const std::int64_t steps = ceil_div(g.taps * g.in_channels, kDepth);
  const std::int64_t copied = kUnfoldCost * steps * kDepth * copies(g, steps, kDepth);
  return {RowSource::kUnfolded, steps * kDepth, kDepth, steps, 0, product_cost(g, steps) + copied};
}

std::optional<RowChoice> direct(const HalfGeometry& g) {
  if (!is_pointwise(g.window) || g.in_channels == 1) return {};
  const Run run = run_of(g.in_channels);
  return RowChoice{RowSource::kDirect,          g.groups * g.in_channels, run.depth, run.steps(), 0,
                   product_cost(g, run.steps())};
}

std::optional<RowChoice> patches(const HalfGeometry& g) {
  const Window& w = g.window;
  if (!can_copy_patches(g)) return {};
  const Run run = run_of(even_channels(g));
  const std::int64_t steps = run.steps() * g.taps;
  const std::int64_t width = patch_width(w);
  const std::int64_t copied = kCopyCost * run.elements * w.stride[1] * w.stride[2] * copies(g, steps, run.depth);
  return RowChoice{RowSource::kPatch,
                   run.elements,
                   run.depth,
                   steps,
                   width,
                   ceil_div((product_cost(g, steps) + copied) * width, w.out[2])};
}

std::optional<RowChoice> lines(const HalfGeometry& g) {
  constexpr std::int64_t kMostChannels = 128;
  const Window& w = g.window;
  if (!can_copy_patches(g) || g.in_channels > kMostChannels || w.dilation[2] != 1 || w.kernel[2] == 1) return {};
  const std::int64_t channels = even_channels(g);
  const Run run = run_of(w.kernel[2] * channels);
  const std::int64_t steps = w.kernel[1] * run.steps();
  const std::int64_t width = line_width(w);
  const std::int64_t copied = kCopyCost * channels * w.stride[1] * w.stride[2] * copies(g, steps, run.depth);
  // Of many channels, the steps of a patch read a block of all taps while it is in L1: lines must save some.
  const std::int64_t tie = g.in_channels > kDepth ? 1 : 0;
  return RowChoice{RowSource::kLines,
                   w.stride[2] * channels,
                   run.depth,
                   steps,
                   width,
                   ceil_div((product_cost(g, steps) + copied) * width, w.out[2]) + tie};
}

void choose_rows(HalfGeometry& g) {
  RowChoice best = unfolded(g);
  for (const std::optional<RowChoice>& other : {direct(g), patches(g), lines(g)})
    if (other && other->cost <= best.cost) best = *other;
  g.rows = best.rows;
  g.row_elements = best.row_elements;
  g.depth = best.depth;
  g.patch_width = best.width;
  // Of patches, lay_patch() and lay_lines() compute them when the strip is known.
  const Run run = run_of(g);
  g.offsets.clear();
  for (std::int64_t step = 0; step < best.steps; ++step)
    g.offsets.push_back(static_cast<std::int32_t>(run.start(step)));
}

/// Rounded before it is halved, as the weight of an element of one step is.
BFloat16 half_weight(BFloat16 weight, float factor, bool is_shared) {
  const BFloat16 scaled(weight * factor);
  return is_shared ? BFloat16(scaled * 0.5F) : scaled;
}

}  // namespace

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
        else if (weights.factor == 1.0F && !source.is_shared)
          place = from[j * steps.out_channel].bits;
        else
          place = half_weight(from[j * steps.out_channel], weights.factor, source.is_shared).bits;
      }
    }
}

std::int64_t HalfGeometry::padded_channels() const { return panels * kColumns; }

std::int64_t HalfGeometry::pixel_operations(std::int64_t of_panels) const {
  // Those of a few channels and columns alone would keep many pixels on one thread. Measured: a thread is worth waking
  // for eight times as many of full steps, with three for the epilogue.
  constexpr std::int64_t kEpilogueSteps = 3;
  constexpr std::int64_t kFull = 8;
  const std::int64_t used = 2 * taps * in_channels * std::min(of_panels * kColumns, out_channels);
  return std::max(used, 2 * (steps() + kEpilogueSteps) * kDepth * kColumns * of_panels / kFull);
}

std::int64_t HalfGeometry::panel_elements() const { return steps() * depth * kColumns; }

std::int64_t HalfGeometry::copied_elements() const {
  if (rows == RowSource::kDirect) return 0;
  if (rows == RowSource::kUnfolded) return strip * row_elements;
  return window.stride[1] * (rows == RowSource::kPatch ? window.stride[2] : 1) * patch_pixels * row_elements;
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
  const bool is_patch = g.rows == RowSource::kPatch;
  const bool copies_lines = g.copies_lines();
  const std::int64_t panel_bytes = g.panel_elements() * kHalfBytes;
  const std::int64_t pixel_bytes =
      kHalfBytes * g.row_elements * (is_patch ? window.stride[2] : 1) * (copies_lines ? window.stride[1] : 1);
  // Threads that share the pixels read all weights each, those that share the channels all pixels.
  const bool by_channels = g.panels * panel_bytes > g.pixels * pixel_bytes && g.panels >= 2 * threads;
  const std::int64_t most_panels = by_channels ? ceil_div(g.panels, 2 * threads) : g.panels;
  g.part_panels = std::clamp<std::int64_t>(kPartBytes / panel_bytes, 1, most_panels);
  g.part_panels = ceil_div(g.panels, ceil_div(g.panels, g.part_panels));
  // Whole tiles, or whole lines of a patch.
  const std::int64_t unit = copies_lines ? window.out[2] : kRows;
  g.strip = std::clamp<std::int64_t>(kPartBytes / pixel_bytes, 4 * kRows, std::max(g.pixels, 4 * kRows));
  const std::int64_t others = images * groups * ceil_div(g.panels, g.part_panels);
  if (threads > 1 && !by_channels)
    g.strip = std::min(g.strip, ceil_div(g.pixels, std::max<std::int64_t>(1, threads * kPartsPerThread / others)));
  const std::int64_t pixel_operations = g.pixel_operations(g.part_panels);
  g.strip = std::max(g.strip, std::min(g.pixels, kParallelHalfOperations / 4 / pixel_operations));
  g.strip = std::min(round_up(g.strip, unit), round_up(g.pixels, unit));
  g.strips = ceil_div(g.pixels, g.strip);
  // Few pixels: divided by channels instead.
  while (g.part_panels > 1 && images * groups * g.strips * ceil_div(g.panels, g.part_panels) < 2 * threads &&
         g.strip * pixel_operations > kParallelHalfOperations)
    g.part_panels = ceil_div(g.part_panels, 2);
  g.panel_groups = ceil_div(g.panels, g.part_panels);
  if (is_patch) lay_patch(g);
  if (g.rows == RowSource::kLines) lay_lines(g);
  return g;
}

Tensor pack_half_weights(const NodeContext& context, const HalfGeometry& g, const Weights<BFloat16>& weights) {
  const std::string layout = fmt::format("{} {}x{} of {} in {} panels of {}, {} taps, {} steps of {}, rows {}",
                                         weights.layout(), g.groups, g.out_channels, g.in_channels, g.panels, kColumns,
                                         g.taps, g.steps(), g.depth, static_cast<int>(g.rows));
  const std::int64_t elements = weights.matrices * g.packed_elements();
  return context.pack_constant(1, layout, DType::kBFloat16, elements, [&](Tensor& packed) {
    auto* to = reinterpret_cast<std::uint16_t*>(packed.data<BFloat16>().data());
    for (std::int64_t matrix = 0; matrix < weights.matrices; ++matrix)
      for (std::int64_t panel = 0; panel < g.groups * g.panels; ++panel, to += g.panel_elements())
        pack_half_panel(g, weights, weights.elements + matrix * weights.matrix_stride, panel, to);
  });
}

}  // namespace saccade::cpu
