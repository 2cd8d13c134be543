#include "cuda/plans/convolution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>

#include "cuda/plans/near_tiles.hpp"
#include "cuda/plans/rounding.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

int element_bytes(const ConvolutionShape& shape) { return shape.dtype == DType::kFloat32 ? 4 : 2; }
bool is_tensor(const ConvolutionShape& shape) { return element_bytes(shape) == 2 || shape.tf32; }
/// Products of one step of a warp's arithmetic.
int unit_of(const ConvolutionShape& shape) { return is_tensor(shape) ? 32 / element_bytes(shape) : 4; }

/// What kernels/convolution.cuh works out in Tiling, under the same names.
struct Tiling {
  Tiling(const ConvolutionShape& s, const ConvolutionTile& t) {
    few = t.window == ConvolutionWindow::kFewChannels;
    whole = t.window != ConvolutionWindow::kGather;
    tile_pixels = t.height * t.width;
    rows = round_up(tile_pixels, 16 * t.warps_m);
    m = rows / 16 / t.warps_m;
    n = t.filters / 8 / t.warps_n;
    group = n % 4 == 0 ? 4 : 2;
    patch_height = (t.height - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
    line_taps = few ? round_up(s.kernel_width, 4) : s.kernel_width;
    patch_width = (t.width - 1) * s.stride_x + (line_taps - 1) * s.dilation_x + 1;
    const int line_pixels = patch_width + ((t.width - patch_width) % 8 + 8) % 8;
    copied = whole ? patch_height * patch_width : tile_pixels;
    const int held = whole ? (patch_height - 1) * line_pixels + patch_width : tile_pixels;
    const int bytes = element_bytes(s);
    input_bytes = round_up(held * (few ? 4 * bytes : t.step * bytes + 16), 128);
    depth = few ? s.kernel_height * line_taps * 4 : (whole ? s.taps() : 1) * t.step;
    weight_bytes = depth * t.filters * bytes;
    channel_steps = few ? 1 : ceil_div(s.channels, t.step);
    steps = channel_steps * (whole ? 1 : s.taps());
    block_steps = ceil_div(steps, t.split);
    stages = std::min(block_steps, t.stages);
    items = t.warps_m * t.warps_n * m * 2 * (n / group);
    item_bytes = group / 2 * 512;
    const int owned = ceil_div(items, t.split);
    const int partial_bytes = t.warps_k == 1 ? 0 : t.warps_k * items * item_bytes;
    const int receive_bytes = t.split == 1 ? 0 : t.split * owned * item_bytes;
    shared_bytes = round_up(std::max(stages * (input_bytes + weight_bytes), partial_bytes), 128) + receive_bytes +
                   8 * (stages + 1);
    filter_tiles = ceil_div(s.filters, t.filters);
  }

  bool few, whole;
  int tile_pixels, rows, m, n, group;
  int patch_height, line_taps, patch_width, copied;
  int input_bytes, depth, weight_bytes;
  int channel_steps, steps, block_steps, stages;
  int items, item_bytes, shared_bytes, filter_tiles;
};

/// Elements that one copy of an input takes.
int copied_vector(const ConvolutionShape& shape) {
  const int most = 16 / element_bytes(shape);
  const int four_bytes = 4 / element_bytes(shape);
  if (shape.in_pitch % most == 0 && shape.channels % most == 0) return most;
  return shape.in_pitch % four_bytes == 0 && shape.channels % four_bytes == 0 ? four_bytes : 1;
}

/// Copies of a thread for one step.
int copies_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const Tiling& tiling) {
  return ceil_div(tiling.copied * (tiling.few ? 1 : tile.step / copied_vector(shape)), tile.threads());
}

/// Registers of a thread, about: sums, the fragments of two units (one of float32), and what else is kept. Each copy
/// keeps its offset, and its place where taps are gathered; those of halves are few.
int registers_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const Tiling& tiling) {
  const int sums = 4 * tiling.m * tiling.n;
  const int places = !tiling.whole && shape.taps() > 1 ? 2 : 1;
  const int copies = element_bytes(shape) == 4 ? places * copies_of(shape, tile, tiling) : 0;
  return sums + 8 * tiling.m + copies + (is_tensor(shape) ? 4 * tiling.n + 40 : 2 * tiling.n + 56);
}

/// Those that a kernel may have which leaves room for a second block, as convolution_source() asks for.
int most_registers(const ConvolutionTile& tile) {
  return std::min(65536 / (2 * round_up(tile.threads(), 64)) / 8 * 8, 255);
}

/// What kernels call a tensor's elements of TYPE.
std::string_view element_name(DType type) {
  switch (type) {
    case DType::kFloat32: return "float";
    case DType::kFloat16: return "float16";
    case DType::kBFloat16: return "bfloat16";
    case DType::kInt8: return "int8";
    default: return "uint8";
  }
}

bool is_bytes(const ConvolutionShape& shape) { return shape.dtype == DType::kInt8 || shape.dtype == DType::kUInt8; }

/// VALUE as 16 bits of TYPE, rounded half to even; of bytes a pair's bits.
std::uint16_t half_bits(float value, DType type) {
  if (type == DType::kInt8 || type == DType::kUInt8) return static_cast<std::uint16_t>(value);
  return type == DType::kFloat16 ? std::bit_cast<std::uint16_t>(Float16(value))
                                 : std::bit_cast<std::uint16_t>(BFloat16(value));
}

/// VALUE as the bits of a float32 that is rounded to tf32's 10 bits behind the point, half away from zero.
std::uint32_t tf32_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::isfinite(value) ? (bits + 0x1000U) & ~0x1FFFU : bits;
}

/// Where the weights of one block's step lie: by channel of the step (or place among a few channels' products), tap of
/// the step, and filter of the tile. Tensor cores: columns of 16 filters by a unit's 16 products (8 of tf32), 16 bytes
/// a lane; the columns' order is WarpTile's (kernels/tile.cuh).
int place_in_block(const ConvolutionShape& shape, const ConvolutionTile& tile, const Tiling& tiling, int product,
                   int filter) {
  if (!is_tensor(shape)) return product * tile.filters + filter;
  const int group = tiling.group;
  const int within = filter % (8 * group);
  const int q = within / (2 * group);
  const int column_block = filter / (8 * group) * group + within % (2 * group) / 2;  // which 8 columns
  const int g = 2 * q + within % 2;
  const int held = 4 / element_bytes(shape);  // neighbouring products of a register
  const int k = product % unit_of(shape);
  const int lane = 4 * g + k % (4 * held) / held;
  const int element = (column_block % 2 * 2 + k / (4 * held)) * held + k % held;
  const int column = product / unit_of(shape) * (tile.filters / 16) + column_block / 2;
  return column * 128 * held + lane * 4 * held + element;
}

constexpr std::string_view kWindowNames[] = {"gather", "patch", "few"};

}  // namespace

double ConvolutionShape::operations() const {
  return 2.0 * images * out_height * out_width * groups * filters * channels * taps();
}

std::string ConvolutionTile::to_string() const {
  return fmt::format("{} {}x{}x{} k{} w{}x{}x{} s{} p{}", kWindowNames[static_cast<int>(window)], height, width,
                     filters, step, warps_m, warps_n, warps_k, split, stages);
}

ConvolutionGrid convolution_grid(const ConvolutionShape& shape, const ConvolutionTile& tile) {
  const int filters = ceil_div(shape.filters, tile.filters) * shape.groups;
  if (tile.window == ConvolutionWindow::kGather)
    return {ceil_div(shape.images * shape.out_height * shape.out_width, tile.width), filters, tile.split};
  return {shape.images * ceil_div(shape.out_height, tile.height) * ceil_div(shape.out_width, tile.width), filters,
          tile.split};
}

int convolution_shared_bytes(const ConvolutionShape& shape, const ConvolutionTile& tile) {
  return Tiling(shape, tile).shared_bytes;
}

std::vector<std::byte> pack_convolution_weights(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                                std::span<const float> weights) {
  const Tiling tiling(shape, tile);
  const std::size_t block = static_cast<std::size_t>(tiling.weight_bytes);
  std::vector<std::byte> packed(block * static_cast<std::size_t>(shape.groups * tiling.filter_tiles * tiling.steps));
  const int taps = shape.taps();
  const auto put = [&](std::size_t number, int product, int filter, float value) {
    std::byte* to = packed.data() + number * block;
    const auto place = static_cast<std::size_t>(place_in_block(shape, tile, tiling, product, filter % tile.filters));
    if (element_bytes(shape) == 2) {
      const std::uint16_t bits = half_bits(value, shape.dtype);
      std::memcpy(to + place * 2, &bits, 2);
    } else {
      const std::uint32_t bits = shape.tf32 ? tf32_bits(value) : std::bit_cast<std::uint32_t>(value);
      std::memcpy(to + place * 4, &bits, 4);
    }
  };
  const float* from = weights.data();
  for (int row = 0; row < shape.groups * shape.filters; ++row) {
    const int filter = row % shape.filters;
    const int tile_number = row / shape.filters * tiling.filter_tiles + filter / tile.filters;
    for (int channel = 0; channel < shape.channels; ++channel) {
      for (int tap = 0; tap < taps; ++tap) {
        int step = 0;
        int product = 0;
        if (tiling.few) {
          product = (tap / shape.kernel_width * tiling.line_taps + tap % shape.kernel_width) * 4 + channel;
        } else if (tiling.whole) {
          step = channel / tile.step;
          product = tap * tile.step + channel % tile.step;
        } else {
          step = tap * tiling.channel_steps + channel / tile.step;
          product = channel % tile.step;
        }
        put(static_cast<std::size_t>(tile_number) * static_cast<std::size_t>(tiling.steps) +
                static_cast<std::size_t>(step),
            product, filter, *from++);
      }
    }
  }
  return packed;
}

std::vector<std::byte> pack_convolution_bias(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                             std::span<const float> bias) {
  const int padded = ceil_div(shape.filters, tile.filters) * tile.filters;
  std::vector<float> values(static_cast<std::size_t>(shape.groups * padded));
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const auto filters = static_cast<std::size_t>(shape.filters);
    values[i / filters * static_cast<std::size_t>(padded) + i % filters] = bias[i];
  }
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::string convolution_constants(const std::string& name, const ConvolutionShape& shape, const ConvolutionTile& tile) {
  constexpr const char* kWindows[] = {"kGather", "kPatch", "kFewChannels"};
  const std::string_view held = element_name(shape.dtype);
  const std::string element = is_bytes(shape) ? fmt::format("BytePair<{}>", held) : std::string(held);
  std::string text = fmt::format("struct {} {{\n  using Element = {};\n  using Output = {};\n", name, element,
                                 element_name(shape.out_dtype.value_or(shape.dtype)));
  text += fmt::format("  static constexpr Window kWindow = Window::{};\n", kWindows[static_cast<int>(tile.window)]);
  const std::pair<const char*, int> constants[] = {
      {"Tf32", shape.tf32 ? 1 : 0},
      {"Padding", shape.padding},
      {"Images", shape.images},
      {"Height", shape.height},
      {"Width", shape.width},
      {"InPitch", shape.in_pitch},
      {"Groups", shape.groups},
      {"Channels", shape.channels},
      {"OutHeight", shape.out_height},
      {"OutWidth", shape.out_width},
      {"OutPitch", shape.out_pitch},
      {"Filters", shape.filters},
      {"KernelHeight", shape.kernel_height},
      {"KernelWidth", shape.kernel_width},
      {"StrideY", shape.stride_y},
      {"StrideX", shape.stride_x},
      {"PadY", shape.pad_y},
      {"PadX", shape.pad_x},
      {"ScaleY", shape.scale_y},
      {"ScaleX", shape.scale_x},
      {"ScaledHeight", shape.scaled_height},
      {"ScaledWidth", shape.scaled_width},
      {"DilationY", shape.dilation_y},
      {"DilationX", shape.dilation_x},
      {"TileHeight", tile.height},
      {"TileWidth", tile.width},
      {"TileFilters", tile.filters},
      {"Step", tile.step},
      {"WarpsM", tile.warps_m},
      {"WarpsN", tile.warps_n},
      {"WarpsK", tile.warps_k},
      {"Split", tile.split},
      {"Stages", tile.stages},
      {"SharedBytes", convolution_shared_bytes(shape, tile)},
  };
  for (const auto& [constant, value] : constants)
    text += fmt::format("  static constexpr int k{} = {};\n", constant, value);
  return text + "};\n";
}

std::string convolution_source(const ConvolutionShape& shape, const ConvolutionTile& tile,
                               const PostOpsText& post_ops) {
  const std::string cluster = tile.split > 1 ? fmt::format("__cluster_dims__(1, 1, {}) ", tile.split) : "";
  return fmt::format(R"(#include "convolution.cuh"
{}{}// about {} registers
extern "C" __global__ void {}__launch_bounds__({}, 2)
    convolution(const Layer::Element* __restrict__ input, const unsigned char* __restrict__ weights,
                const Tiling<Layer>::Bias* __restrict__ biases{}, Layer::Output* __restrict__ output) {{
  convolve<Layer>(input, weights, biases, output, {});
}}
)",
                     convolution_constants("Layer", shape, tile), post_ops.definition,
                     registers_of(shape, tile, Tiling(shape, tile)), cluster, tile.threads(), post_ops.parameters,
                     post_ops.value);
}

namespace {

// What a launch costs, in cycles of a multiprocessor; fitted to measurements of an H200.
constexpr double kUnitLatency = 30;      // of a step's unit of 16 products (4 of float32) in one warp
constexpr double kShared = 0.4;          // of the fragments' time, that does not hide behind the products'
constexpr double kCopyRate = 28;         // bytes that arrive in a cycle
constexpr double kLatency = 350;         // from a copy to its data
constexpr double kStep = 225;            // barriers of a step
constexpr double kItem = 140;            // of one vector of sums a lane on its way out
constexpr double kManyItems = 80;        // of those beyond what fits registers beside the loop
constexpr double kSliceReduction = 150;  // of sums over warps
constexpr double kSplitReduction = 590;  // of sums over blocks
constexpr double kLaunch = 1730;
constexpr double kWeightRate = 400;  // bytes of weights that arrive in a cycle
constexpr double kHidden = 165;      // of their time, behind the launch before
constexpr double kCrowded = 375;     // a late start where two launches don't fit together

}  // namespace

double convolution_time(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits) {
  const Tiling tiling(shape, tile);
  const ConvolutionGrid grid = convolution_grid(shape, tile);
  const int warps = tile.threads() / 32;
  // Blocks that share a multiprocessor, and how often all of them are full.
  const int registers = registers_of(shape, tile, tiling);
  const int resident = std::clamp(
      std::min({233472 / (tiling.shared_bytes + 1024), 64 / warps, 65536 / (tile.threads() * registers)}), 1, 32);
  const int at_once = std::min(resident, ceil_div(grid.blocks(), limits.multiprocessors));
  const double waves = std::ceil(grid.blocks() / (static_cast<double>(limits.multiprocessors) * at_once));
  // Cycles of a step: tensor cores (or FFMA), fragments out of shared memory, inputs into it; a lone warp waits for
  // each.
  const double units = static_cast<double>(tiling.depth) / unit_of(shape) / tile.warps_k;
  const double crowd = std::max(1.0, warps * at_once / 4.0);
  const double sums = tiling.m * tiling.n;
  const double multiply = sums * (is_tensor(shape) ? 8 : 16) * crowd;
  const double fragments = (is_tensor(shape) ? (tiling.few ? 4.0 : 1.0) * tiling.m * 4 + tiling.n * 2.0
                                             : 2.0 * tiling.m * 4 + tiling.n * 8.0) *
                           warps * at_once;
  const double step_cycles = units * std::max(kUnitLatency, multiply + kShared * fragments);
  // Copies; weights are there already where all steps are on their way at once.
  const int vector = tiling.few ? 2 : copied_vector(shape) * element_bytes(shape);
  const double vectors =
      static_cast<double>(tiling.copied) * (tiling.few ? 3 : tile.step * element_bytes(shape) / vector);
  const double input = at_once * vectors * vector / kCopyRate;
  const double weights = at_once * tiling.weight_bytes / kCopyRate;
  double body = kLatency + input + kStep;
  if (tiling.block_steps <= tile.stages) {
    body += (tiling.block_steps - 1) * (std::max(step_cycles, input) + kStep) + step_cycles;
  } else {
    const double refill = std::max(input + weights, kLatency / (tiling.stages - 1));
    body += tiling.block_steps * (std::max(step_cycles, refill) + kStep);
  }
  // Reductions and stores.
  const double warp_items = ceil_div(tiling.items, warps);
  const double item = (kItem * warp_items + kManyItems * std::max(0.0, warp_items - 4)) * crowd;
  const double reduction = (tile.warps_k > 1 ? kSliceReduction + item * tile.warps_k / 4 : 0) +
                           (tile.split > 1 ? kSplitReduction + item * tile.split / 4 : 0);
  // Weights are there before the inputs unless the block starts late: in a later wave, or where shared memory has no
  // room for it beside the launch before.
  const double load = at_once * static_cast<double>(tiling.weight_bytes) * tiling.stages / kWeightRate;
  const double late = tiling.shared_bytes * at_once > 116000 ? kCrowded + load : std::max(0.0, load - kHidden);
  return (kLaunch + late + waves * (body + item + reduction) + (waves - 1) * load) / 1740;
}

namespace {

struct Choices {
  std::vector<std::pair<int, int>> pixels;  // height, width
  std::vector<int> filters;
  std::vector<int> steps;
};

Choices choices_of(const ConvolutionShape& shape, ConvolutionWindow window) {
  Choices choices;
  if (window == ConvolutionWindow::kGather) {
    choices.pixels = {{1, 16}, {1, 32}, {1, 48}, {1, 64}, {1, 96}, {1, 128}};
  } else {
    choices.pixels = {{1, 16}, {2, 8}, {4, 4},  {1, 32}, {2, 16}, {4, 8},  {4, 12},
                      {7, 7},  {8, 8}, {4, 16}, {2, 32}, {8, 16}, {16, 8}, {4, 32}};
    // Lines of the image's own length where it is short.
    for (int lines : {1, 2, 4})
      if (shape.out_width <= 28 && shape.out_width >= 7) choices.pixels.emplace_back(lines, shape.out_width);
  }
  for (int filters : {16, 32, 48, 64, 80, 96, 128})
    if (filters == 16 || filters < shape.filters + 16) choices.filters.push_back(filters);
  const int align = unit_of(shape);
  if (window == ConvolutionWindow::kFewChannels) {
    choices.steps = {16};
  } else {
    for (int step : {4, 8, 16, 24, 32, 48, 64, 80, 96, 128, 256})
      if (step % align == 0 && step < shape.channels + align) choices.steps.push_back(step);
  }
  return choices;
}

bool fits(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits) {
  const int unit = unit_of(shape);
  const bool few = tile.window == ConvolutionWindow::kFewChannels;
  if (tile.filters % (16 * tile.warps_n) != 0 || (!few && tile.step % (unit * tile.warps_k) != 0)) return false;
  const Tiling tiling(shape, tile);
  if (tiling.m * tiling.n > 16 || registers_of(shape, tile, tiling) > most_registers(tile)) return false;
  if (tiling.shared_bytes > limits.shared_bytes) return false;
  if (tile.split > 1 && (tile.split > tiling.steps || !limits.clusters)) return false;
  if (copies_of(shape, tile, tiling) > 24) return false;
  // Of tiles whose steps are all on their way at once, one is enough.
  return tile.stages == 2 || tile.stages <= tiling.block_steps;
}

/// Which windows tiles for SHAPE may have; the second one where dilation tears the first one's patches apart or none
/// of it fits.
std::vector<ConvolutionWindow> windows_of(const ConvolutionShape& shape) {
  if (element_bytes(shape) == 2 && !is_bytes(shape) && shape.channels <= 4 && shape.groups == 1)
    return {ConvolutionWindow::kFewChannels};
  if (shape.taps() == 1) return {ConvolutionWindow::kGather};
  return {ConvolutionWindow::kPatch, ConvolutionWindow::kGather};
}

constexpr int kWarpsMN[] = {1, 2, 4};
constexpr int kWarpsK[] = {1, 2, 4, 5, 8};
constexpr int kSplits[] = {1, 2, 4, 8};
constexpr int kStages[] = {2, 3, 4, 6, 8};

bool is_one_of(int value, std::span<const int> values) { return std::ranges::find(values, value) != values.end(); }

/// Whether convolution_tiles() might hold TILE, which says anything.
bool is_offered(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits) {
  const std::vector<ConvolutionWindow> windows = windows_of(shape);
  if (std::ranges::find(windows, tile.window) == windows.end()) return false;
  const Choices choices = choices_of(shape, tile.window);
  const bool few = tile.window == ConvolutionWindow::kFewChannels;
  const int warps = tile.warps_m * tile.warps_n * tile.warps_k;
  return std::ranges::find(choices.pixels, std::pair(tile.height, tile.width)) != choices.pixels.end() &&
         is_one_of(tile.filters, choices.filters) && is_one_of(tile.step, choices.steps) &&
         is_one_of(tile.warps_m, kWarpsMN) && is_one_of(tile.warps_n, kWarpsMN) && is_one_of(tile.warps_k, kWarpsK) &&
         is_one_of(tile.split, kSplits) && is_one_of(tile.stages, kStages) && warps >= 2 && warps <= 8 &&
         (!few || (tile.warps_k == 1 && tile.split == 1)) && fits(shape, tile, limits);
}

/// What to_string() wrote; nothing where TEXT is something else.
std::optional<ConvolutionTile> parse(std::string_view text) {
  char window[8] = {};
  ConvolutionTile tile;
  const std::string whole(text);
  if (std::sscanf(whole.c_str(), "%7s %dx%dx%d k%d w%dx%dx%d s%d p%d", window, &tile.height, &tile.width, &tile.filters,
                  &tile.step, &tile.warps_m, &tile.warps_n, &tile.warps_k, &tile.split, &tile.stages) != 10)
    return {};
  const auto name = std::ranges::find(kWindowNames, std::string_view(window));
  if (name == std::end(kWindowNames)) return {};
  tile.window = static_cast<ConvolutionWindow>(name - std::begin(kWindowNames));
  return tile;
}

}  // namespace

std::vector<ConvolutionTile> convolution_tiles(const ConvolutionShape& shape, const DeviceLimits& limits) {
  struct Scored {
    double time;
    ConvolutionTile tile;
  };
  std::vector<Scored> found;
  const auto consider = [&](const ConvolutionTile& tile) {
    if (fits(shape, tile, limits)) found.push_back({convolution_time(shape, tile, limits), tile});
  };
  const auto enumerate = [&](ConvolutionWindow window) {
    const Choices choices = choices_of(shape, window);
    const bool few = window == ConvolutionWindow::kFewChannels;
    for (const auto& [height, width] : choices.pixels)
      for (int filters : choices.filters)
        for (int step : choices.steps)
          for (int warps_m : kWarpsMN)
            for (int warps_n : kWarpsMN)
              for (int warps_k : std::span(kWarpsK).first(few ? 1 : std::size(kWarpsK)))
                for (int split : std::span(kSplits).first(few ? 1 : std::size(kSplits))) {
                  const int warps = warps_m * warps_n * warps_k;
                  if (warps < 2 || warps > 8) continue;
                  for (int stages : kStages)
                    consider({window, height, width, filters, step, warps_m, warps_n, warps_k, split, stages});
                }
  };
  for (ConvolutionWindow window : windows_of(shape))
    if (found.empty() || shape.dilation_y * shape.dilation_x > 1) enumerate(window);
  std::ranges::stable_sort(found, {}, &Scored::time);
  std::vector<ConvolutionTile> tiles;
  tiles.reserve(found.size());
  for (const Scored& each : found) tiles.push_back(each.tile);
  return tiles;
}

std::vector<ConvolutionTile> distinct_tiles(const std::vector<ConvolutionTile>& tiles, std::size_t count) {
  std::vector<ConvolutionTile> distinct;
  std::set<std::array<int, 5>> seen;
  for (const ConvolutionTile& tile : tiles) {
    if (distinct.size() == count) break;
    const auto window = static_cast<int>(tile.window);
    if (seen.insert({window, tile.height * tile.width, tile.filters, tile.warps_k, tile.split}).second)
      distinct.push_back(tile);
  }
  return distinct;
}

ConvolutionTile configured_tile(const ConvolutionShape& shape, const DeviceLimits& limits, std::string_view text) {
  if (const auto tile = parse(text); tile && is_offered(shape, *tile, limits)) return *tile;
  return convolution_tiles(shape, limits).front();
}

std::vector<std::string> tile_configurations(const ConvolutionShape& shape, const DeviceLimits& limits,
                                             std::size_t count, std::string_view near) {
  const std::vector<ConvolutionTile> tiles = convolution_tiles(shape, limits);
  if (!near.empty()) return near_tiles(tiles, near, count);
  std::vector<std::string> texts;
  for (const ConvolutionTile& tile : distinct_tiles(tiles, count)) texts.push_back(tile.to_string());
  return texts;
}

}  // namespace saccade::cuda
