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

#include "cuda/plans/neighbor_tiles.hpp"
#include "cuda/plans/rounding.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

int element_bytes(const ConvolutionShape& shape) { return shape.dtype == DType::kFloat32 ? 4 : 2; }
bool is_tensor(const ConvolutionShape& shape) { return element_bytes(shape) == 2 || shape.tf32; }
/// K of one MMA.
int mma_k_of(const ConvolutionShape& shape) { return is_tensor(shape) ? 32 / element_bytes(shape) : 4; }

/// Tiling of kernels/convolution_tiling.cuh, by the same formulas.
struct Tiling {
  Tiling(const ConvolutionShape& s, const ConvolutionTile& t) {
    few = t.staging == InputStaging::kFewChannels;
    all_taps = t.staging != InputStaging::kTapGather;
    tile_pixels = t.height * t.width;
    rows = round_up(tile_pixels, 16 * t.warps_m);
    m = rows / 16 / t.warps_m;
    n = t.filters / 8 / t.warps_n;
    group = n % 4 == 0 ? 4 : 2;
    halo_height = (t.height - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
    row_taps = few ? round_up(s.kernel_width, 4) : s.kernel_width;
    halo_width = (t.width - 1) * s.stride_x + (row_taps - 1) * s.dilation_x + 1;
    const int halo_pitch = halo_width + ((t.width - halo_width) % 8 + 8) % 8;
    loaded_pixels = all_taps ? halo_height * halo_width : tile_pixels;
    const int held = all_taps ? (halo_height - 1) * halo_pitch + halo_width : tile_pixels;
    const int bytes = element_bytes(s);
    input_bytes = round_up(held * (few ? 4 * bytes : t.step * bytes + 16), 128);
    depth = few ? s.kernel_height * row_taps * 4 : (all_taps ? s.taps() : 1) * t.step;
    weight_bytes = depth * t.filters * bytes;
    channel_steps = few ? 1 : ceil_div(s.channels, t.step);
    steps = channel_steps * (all_taps ? 1 : s.taps());
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

  bool few, all_taps;
  int tile_pixels, rows, m, n, group;
  int halo_height, row_taps, halo_width, loaded_pixels;
  int input_bytes, depth, weight_bytes;
  int channel_steps, steps, block_steps, stages;
  int items, item_bytes, shared_bytes, filter_tiles;
};

/// Vector width of input loads, in elements.
int load_width(const ConvolutionShape& shape) {
  const int most = 16 / element_bytes(shape);
  const int four_bytes = 4 / element_bytes(shape);
  if (shape.in_pitch % most == 0 && shape.channels % most == 0) return most;
  return shape.in_pitch % four_bytes == 0 && shape.channels % four_bytes == 0 ? four_bytes : 1;
}

/// Input loads per thread and k-step.
int loads_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const Tiling& tiling) {
  return ceil_div(tiling.loaded_pixels * (tiling.few ? 1 : tile.step / load_width(shape)), tile.threads());
}

/// Estimated registers per thread: accumulators, fragments of two MMA steps (one for float32), and addressing. Each
/// load keeps its offset and, for per-tap bounds, its origin; half precision has few.
int registers_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const Tiling& tiling) {
  const int sums = 4 * tiling.m * tiling.n;
  const int places = !tiling.all_taps && shape.taps() > 1 ? 2 : 1;
  const int copies = element_bytes(shape) == 4 ? places * loads_of(shape, tile, tiling) : 0;
  return sums + 8 * tiling.m + copies + (is_tensor(shape) ? 4 * tiling.n + 40 : 2 * tiling.n + 56);
}

/// Limit for two resident blocks per SM, as the launch bounds of convolution_source() ask for.
int max_registers(const ConvolutionTile& tile) {
  return std::min(65536 / (2 * round_up(tile.threads(), 64)) / 8 * 8, 255);
}

/// Element type of kernels.
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

/// VALUE as 16 bits of TYPE, rounded to nearest even; for integers, the bits of a pair.
std::uint16_t rounded_bits(float value, DType type) {
  if (type == DType::kInt8 || type == DType::kUInt8) return static_cast<std::uint16_t>(value);
  return type == DType::kFloat16 ? std::bit_cast<std::uint16_t>(Float16(value))
                                 : std::bit_cast<std::uint16_t>(BFloat16(value));
}

/// VALUE rounded to the 10 mantissa bits of tf32, nearest with ties away from zero.
std::uint32_t tf32_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::isfinite(value) ? (bits + 0x1000U) & ~0x1FFFU : bits;
}

/// Offset of a weight in a block's packed k-step, by K index within the step and filter of the tile. For tensor cores
/// weights are in fragment order: 16 filters by one MMA K, 16 bytes per lane, columns ordered as by WarpTile
/// (kernels/tile.cuh).
int fragment_offset(const ConvolutionShape& shape, const ConvolutionTile& tile, const Tiling& tiling, int product,
                    int filter) {
  if (!is_tensor(shape)) return product * tile.filters + filter;
  const int group = tiling.group;
  const int within = filter % (8 * group);
  const int q = within / (2 * group);
  const int column_block = filter / (8 * group) * group + within % (2 * group) / 2;  // n8 column block
  const int g = 2 * q + within % 2;
  const int held = 4 / element_bytes(shape);  // adjacent K values per register
  const int k = product % mma_k_of(shape);
  const int lane = 4 * g + k % (4 * held) / held;
  const int element = (column_block % 2 * 2 + k / (4 * held)) * held + k % held;
  const int column = product / mma_k_of(shape) * (tile.filters / 16) + column_block / 2;
  return column * 128 * held + lane * 4 * held + element;
}

constexpr std::string_view kStagingNames[] = {"gather", "patch", "few"};

}  // namespace

double ConvolutionShape::operations() const {
  return 2.0 * images * out_height * out_width * groups * filters * channels * taps();
}

std::string ConvolutionTile::to_string() const {
  return fmt::format("{} {}x{}x{} k{} w{}x{}x{} s{} p{}", kStagingNames[static_cast<int>(staging)], height, width,
                     filters, step, warps_m, warps_n, warps_k, split, stages);
}

ConvolutionGrid convolution_grid(const ConvolutionShape& shape, const ConvolutionTile& tile) {
  const int filters = ceil_div(shape.filters, tile.filters) * shape.groups;
  if (tile.staging == InputStaging::kTapGather)
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
    const auto place = static_cast<std::size_t>(fragment_offset(shape, tile, tiling, product, filter % tile.filters));
    if (element_bytes(shape) == 2) {
      const std::uint16_t bits = rounded_bits(value, shape.dtype);
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
          product = (tap / shape.kernel_width * tiling.row_taps + tap % shape.kernel_width) * 4 + channel;
        } else if (tiling.all_taps) {
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
  constexpr const char* kStagings[] = {"kTapGather", "kHaloTile", "kFewChannels"};
  const std::string_view held = element_name(shape.dtype);
  const std::string element = is_bytes(shape) ? fmt::format("BytePair<{}>", held) : std::string(held);
  std::string text = fmt::format("struct {} {{\n  using Element = {};\n  using Output = {};\n", name, element,
                                 element_name(shape.out_dtype.value_or(shape.dtype)));
  text += fmt::format("  static constexpr InputStaging kStaging = InputStaging::{};\n",
                      kStagings[static_cast<int>(tile.staging)]);
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

// Cost model in SM cycles, fitted to measurements on an H200.
constexpr double kUnitLatency = 30;      // of a warp's MMA step (K = 16; 4 for float32)
constexpr double kShared = 0.4;          // share of fragment loads that the MMAs do not hide
constexpr double kCopyRate = 28;         // bytes loaded per cycle
constexpr double kLatency = 350;         // of a load
constexpr double kStep = 225;            // synchronisation per k-step
constexpr double kItem = 140;            // epilogue of one vector per lane
constexpr double kManyItems = 80;        // of items whose operands do not fit in registers
constexpr double kSliceReduction = 150;  // reduction over warps
constexpr double kSplitReduction = 590;  // reduction over the cluster
constexpr double kLaunch = 1730;
constexpr double kWeightRate = 400;  // bytes of weights loaded per cycle
constexpr double kHidden = 165;      // of the weights' load time, by the preceding launch
constexpr double kCrowded = 375;     // late start when two launches do not fit in shared memory together

}  // namespace

double convolution_time(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits) {
  const Tiling tiling(shape, tile);
  const ConvolutionGrid grid = convolution_grid(shape, tile);
  const int warps = tile.threads() / 32;
  // Resident blocks per SM, and waves.
  const int registers = registers_of(shape, tile, tiling);
  const int resident = std::clamp(
      std::min({233472 / (tiling.shared_bytes + 1024), 64 / warps, 65536 / (tile.threads() * registers)}), 1, 32);
  const int resident_blocks = std::min(resident, ceil_div(grid.blocks(), limits.multiprocessors));
  const double waves = std::ceil(grid.blocks() / (static_cast<double>(limits.multiprocessors) * resident_blocks));
  // Cycles of a k-step: MMA (or FFMA), fragment loads and input loads; a single warp cannot overlap them.
  const double units = static_cast<double>(tiling.depth) / mma_k_of(shape) / tile.warps_k;
  const double contention = std::max(1.0, warps * resident_blocks / 4.0);
  const double sums = tiling.m * tiling.n;
  const double multiply = sums * (is_tensor(shape) ? 8 : 16) * contention;
  const double fragments = (is_tensor(shape) ? (tiling.few ? 4.0 : 1.0) * tiling.m * 4 + tiling.n * 2.0
                                             : 2.0 * tiling.m * 4 + tiling.n * 8.0) *
                           warps * resident_blocks;
  const double step_cycles = units * std::max(kUnitLatency, multiply + kShared * fragments);
  // Loads. Weights have already arrived if all k-steps are in flight at once.
  const int vector = tiling.few ? 2 : load_width(shape) * element_bytes(shape);
  const double vectors =
      static_cast<double>(tiling.loaded_pixels) * (tiling.few ? 3 : tile.step * element_bytes(shape) / vector);
  const double input = resident_blocks * vectors * vector / kCopyRate;
  const double weights = resident_blocks * tiling.weight_bytes / kCopyRate;
  double body = kLatency + input + kStep;
  if (tiling.block_steps <= tile.stages) {
    body += (tiling.block_steps - 1) * (std::max(step_cycles, input) + kStep) + step_cycles;
  } else {
    const double refill = std::max(input + weights, kLatency / (tiling.stages - 1));
    body += tiling.block_steps * (std::max(step_cycles, refill) + kStep);
  }
  // Split-K reduction and epilogue.
  const double warp_items = ceil_div(tiling.items, warps);
  const double item = (kItem * warp_items + kManyItems * std::max(0.0, warp_items - 4)) * contention;
  const double reduction = (tile.warps_k > 1 ? kSliceReduction + item * tile.warps_k / 4 : 0) +
                           (tile.split > 1 ? kSplitReduction + item * tile.split / 4 : 0);
  // Weights arrive before the inputs, unless the block starts late: in a later wave, or because shared memory cannot
  // hold it beside the preceding launch.
  const double load = resident_blocks * static_cast<double>(tiling.weight_bytes) * tiling.stages / kWeightRate;
  const double late = tiling.shared_bytes * resident_blocks > 116000 ? kCrowded + load : std::max(0.0, load - kHidden);
  return (kLaunch + late + waves * (body + item + reduction) + (waves - 1) * load) / 1740;
}

namespace {

struct Choices {
  std::vector<std::pair<int, int>> pixels;  // height, width
  std::vector<int> filters;
  std::vector<int> steps;
};

Choices choices_of(const ConvolutionShape& shape, InputStaging window) {
  Choices choices;
  if (window == InputStaging::kTapGather) {
    choices.pixels = {{1, 16}, {1, 32}, {1, 48}, {1, 64}, {1, 96}, {1, 128}};
  } else {
    choices.pixels = {{1, 16}, {2, 8}, {4, 4},  {1, 32}, {2, 16}, {4, 8},  {4, 12},
                      {7, 7},  {8, 8}, {4, 16}, {2, 32}, {8, 16}, {16, 8}, {4, 32}};
    // For narrow images, tiles of whole rows.
    for (int lines : {1, 2, 4})
      if (shape.out_width <= 28 && shape.out_width >= 7) choices.pixels.emplace_back(lines, shape.out_width);
  }
  for (int filters : {16, 32, 48, 64, 80, 96, 128})
    if (filters == 16 || filters < shape.filters + 16) choices.filters.push_back(filters);
  const int align = mma_k_of(shape);
  if (window == InputStaging::kFewChannels) {
    choices.steps = {16};
  } else {
    for (int step : {4, 8, 16, 24, 32, 48, 64, 80, 96, 128, 256})
      if (step % align == 0 && step < shape.channels + align) choices.steps.push_back(step);
  }
  return choices;
}

bool fits(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits) {
  const int unit = mma_k_of(shape);
  const bool few = tile.staging == InputStaging::kFewChannels;
  if (tile.filters % (16 * tile.warps_n) != 0 || (!few && tile.step % (unit * tile.warps_k) != 0)) return false;
  const Tiling tiling(shape, tile);
  if (tiling.m * tiling.n > 16 || registers_of(shape, tile, tiling) > max_registers(tile)) return false;
  if (tiling.shared_bytes > limits.shared_bytes) return false;
  if (tile.split > 1 && (tile.split > tiling.steps || !limits.clusters)) return false;
  if (loads_of(shape, tile, tiling) > 24) return false;
  // If all k-steps are in flight at once, the number of stages makes no difference: keep one.
  return tile.stages == 2 || tile.stages <= tiling.block_steps;
}

/// Staging modes for SHAPE, in order of preference. The second is a fallback, tried as well for dilated kernels with
/// their large halos.
std::vector<InputStaging> stagings_of(const ConvolutionShape& shape) {
  if (element_bytes(shape) == 2 && !is_bytes(shape) && shape.channels <= 4 && shape.groups == 1)
    return {InputStaging::kFewChannels};
  if (shape.taps() == 1) return {InputStaging::kTapGather};
  return {InputStaging::kHaloTile, InputStaging::kTapGather};
}

constexpr int kWarpsMN[] = {1, 2, 4};
constexpr int kWarpsK[] = {1, 2, 4, 5, 8};
constexpr int kSplits[] = {1, 2, 4, 8};
constexpr int kStages[] = {2, 3, 4, 6, 8};

bool is_one_of(int value, std::span<const int> values) { return std::ranges::find(values, value) != values.end(); }

/// Whether convolution_tiles() would offer TILE, whose fields are untrusted.
bool is_offered(const ConvolutionShape& shape, const ConvolutionTile& tile, const DeviceLimits& limits) {
  const std::vector<InputStaging> windows = stagings_of(shape);
  if (std::ranges::find(windows, tile.staging) == windows.end()) return false;
  const Choices choices = choices_of(shape, tile.staging);
  const bool few = tile.staging == InputStaging::kFewChannels;
  const int warps = tile.warps_m * tile.warps_n * tile.warps_k;
  return std::ranges::find(choices.pixels, std::pair(tile.height, tile.width)) != choices.pixels.end() &&
         is_one_of(tile.filters, choices.filters) && is_one_of(tile.step, choices.steps) &&
         is_one_of(tile.warps_m, kWarpsMN) && is_one_of(tile.warps_n, kWarpsMN) && is_one_of(tile.warps_k, kWarpsK) &&
         is_one_of(tile.split, kSplits) && is_one_of(tile.stages, kStages) && warps >= 2 && warps <= 8 &&
         (!few || (tile.warps_k == 1 && tile.split == 1)) && fits(shape, tile, limits);
}

/// Inverse of to_string(); nothing if TEXT is malformed.
std::optional<ConvolutionTile> parse(std::string_view text) {
  char window[8] = {};
  ConvolutionTile tile;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%7s %dx%dx%d k%d w%dx%dx%d s%d p%d", window, &tile.height, &tile.width, &tile.filters,
                  &tile.step, &tile.warps_m, &tile.warps_n, &tile.warps_k, &tile.split, &tile.stages) != 10)
    return {};
  const auto name = std::ranges::find(kStagingNames, std::string_view(window));
  if (name == std::end(kStagingNames)) return {};
  tile.staging = static_cast<InputStaging>(name - std::begin(kStagingNames));
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
  const auto enumerate = [&](InputStaging window) {
    const Choices choices = choices_of(shape, window);
    const bool few = window == InputStaging::kFewChannels;
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
  for (InputStaging window : stagings_of(shape))
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
    const auto window = static_cast<int>(tile.staging);
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
  if (!near.empty()) return neighbor_tiles(tiles, near, count);
  std::vector<std::string> texts;
  for (const ConvolutionTile& tile : distinct_tiles(tiles, count)) texts.push_back(tile.to_string());
  return texts;
}

}  // namespace saccade::cuda
