#include "cuda/plans/warpgroup_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>

#include "cuda/kernels/warpgroup_tiling.hpp"
#include "cuda/plans/wgmma_source.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

/// Smallest N of wgmma that holds ROWS, of those that this kernel is tuned for.
int instruction_rows(int rows) { return rows <= 128 ? round_up(rows, 8) : round_up(rows, 32); }
constexpr int kMaxRows = 256;

std::uint16_t rounded_bits(float value, DType type) {
  return type == DType::kFloat16 ? std::bit_cast<std::uint16_t>(Float16(value))
                                 : std::bit_cast<std::uint16_t>(BFloat16(value));
}

}  // namespace

bool is_warpgroup_gemm(const ConvolutionShape& shape) {
  const bool inside = shape.stride_y * (shape.out_height - 1) + shape.kernel_height <= shape.height &&
                      shape.stride_x * (shape.out_width - 1) + shape.kernel_width <= shape.width && shape.pad_y == 0 &&
                      shape.pad_x == 0;
  const bool apart = shape.stride_y >= shape.kernel_height && shape.stride_x >= shape.kernel_width &&
                     (shape.taps() == 1 || (shape.dilation_y == 1 && shape.dilation_x == 1));
  const bool contiguous = shape.kernel_width == 1 || shape.in_pitch == shape.channels;
  return shape.dtype != DType::kFloat32 && shape.groups == 1 && shape.scale_y * shape.scale_x == 1 && inside && apart &&
         contiguous && shape.kernel_width * shape.channels % 8 == 0 && shape.stride_x * shape.in_pitch % 8 == 0 &&
         shape.width * shape.in_pitch % 8 == 0;
}

WarpgroupShape warpgroup_shape(const ConvolutionShape& shape) {
  WarpgroupShape made{.dtype = shape.dtype,
                      .rows = shape.images * shape.out_height * shape.out_width,
                      .channels = shape.taps() * shape.channels,
                      .in_pitch = shape.stride_x * shape.in_pitch,
                      .filters = shape.filters,
                      .out_pitch = shape.out_pitch};
  const bool rows = shape.taps() == 1 && shape.height == shape.out_height && shape.width == shape.out_width;
  if (rows) return made;
  made.runs = shape.kernel_height;
  made.run_pitch = shape.width * shape.in_pitch;
  made.window_pitch = shape.stride_y * made.run_pitch;
  made.image_pitch = shape.height * made.run_pitch;
  made.out_height = shape.out_height;
  made.out_width = shape.out_width;
  return made;
}

std::vector<float> warpgroup_weights(const ConvolutionShape& shape, std::span<const float> weights) {
  std::vector<float> made(weights.size());
  const auto taps = static_cast<std::size_t>(shape.taps());
  const auto channels = static_cast<std::size_t>(shape.channels);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t filter = i / (taps * channels);
    const std::size_t channel = i / taps % channels;
    made[(filter * taps + i % taps) * channels + channel] = weights[i];
  }
  return made;
}

std::string WarpgroupTile::to_string() const {
  return fmt::format("warpgroup {}x{} m{} k{} s{} p{}", rows, filters(), tiles, 64 * depth, split, stages);
}

ConvolutionGrid warpgroup_grid(const WarpgroupShape& shape, const WarpgroupTile& tile) {
  return {ceil_div(shape.rows, tile.rows), ceil_div(shape.filters, tile.filters()), tile.split};
}

int warpgroup_shared_bytes(const WarpgroupShape& shape, const WarpgroupTile& tile) {
  return WarpgroupTiling(shape, tile).shared_bytes;
}

std::vector<std::byte> pack_warpgroup_weights(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                              std::span<const float> weights) {
  const WarpgroupTiling tiling(shape, tile);
  std::vector<std::byte> packed(static_cast<std::size_t>(tiling.weight_bytes) *
                                static_cast<std::size_t>(tiling.filter_tiles * tiling.steps));
  const int lane_filters = 2 * tile.tiles;
  const float* from = weights.data();
  for (int filter = 0; filter < shape.filters; ++filter) {
    // Position within M = 64: adjacent filters of a lane are rows g and g + 8 of a warp's 16, M tile by M tile.
    const int within = filter % tile.filters();
    const int warpgroup = within / (64 * tile.tiles);
    const int lane = within % (64 * tile.tiles) / lane_filters;
    const int number = within % lane_filters;
    const int row = lane / 8 * 16 + lane % 8 + number % 2 * 8;
    for (int channel = 0; channel < shape.channels; ++channel) {
      const int step = channel / (64 * tile.depth);
      const int block = ((warpgroup * tile.tiles + number / 2) * tile.depth + channel / 64 % tile.depth) * 8192;
      const int chunk = channel % 64 / 8;
      const int place = block + row * 128 + (chunk ^ row % 8) * 16 + channel % 8 * 2;
      const std::uint16_t bits = rounded_bits(*from++, shape.dtype);
      std::memcpy(packed.data() +
                      static_cast<std::size_t>(filter / tile.filters() * tiling.steps + step) *
                          static_cast<std::size_t>(tiling.weight_bytes) +
                      place,
                  &bits, 2);
    }
  }
  return packed;
}

namespace {

/// VALUES, one per filter, padded to whole tiles.
std::vector<float> padded(const WarpgroupShape& shape, const WarpgroupTile& tile, std::span<const float> values) {
  std::vector<float> all(values.begin(), values.end());
  all.resize(static_cast<std::size_t>(round_up(shape.filters, tile.filters())));
  return all;
}

std::vector<std::byte> bytes_of(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<std::byte> pack_warpgroup_bias(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                           std::span<const float> bias) {
  return bytes_of(padded(shape, tile, bias));
}

std::vector<std::byte> pack_warpgroup_bias(const WarpgroupShape& shape, const WarpgroupTile& tile,
                                           const NormalizedWeights& weights) {
  std::vector<float> all = padded(shape, tile, weights.bias);
  std::ranges::copy(padded(shape, tile, weights.sums), std::back_inserter(all));
  all.push_back(weights.factor);
  return bytes_of(all);
}

std::string warpgroup_source(const WarpgroupShape& shape, const WarpgroupTile& tile, const PostOpsText& post_ops) {
  std::string layer =
      fmt::format("// {} bytes of dynamic shared memory\nstruct Layer {{\n  using Element = {};\n",
                  warpgroup_shared_bytes(shape, tile), shape.dtype == DType::kFloat16 ? "float16" : "bfloat16");
  const std::pair<const char*, int> constants[] = {
      {"Rows", shape.rows},
      {"Channels", shape.channels},
      {"InPitch", shape.in_pitch},
      {"Filters", shape.filters},
      {"OutPitch", shape.out_pitch},
      {"RunChannels", shape.channels / shape.runs},
      {"RunPitch", shape.run_pitch},
      {"WindowPitch", shape.window_pitch},
      {"ImagePitch", shape.image_pitch},
      {"OutHeight", shape.out_height},
      {"OutWidth", shape.out_width},
      {"TileRows", tile.rows},
      {"Tiles", tile.tiles},
      {"Warpgroups", tile.warpgroups},
      {"Depth", tile.depth},
      {"Split", tile.split},
      {"Stages", tile.stages},
      {"Normalizes", shape.epsilon ? 1 : 0},
  };
  for (const auto& [constant, value] : constants)
    layer += fmt::format("  static constexpr int k{} = {};\n", constant, value);
  layer += fmt::format("  static constexpr float kEpsilon = {:.9e}f;\n", shape.epsilon.value_or(0));
  const std::string cluster = tile.split > 1 ? fmt::format("__cluster_dims__(1, 1, {}) ", tile.split) : "";
  return fmt::format(R"(#include "warpgroup_gemm.cuh"
{}{}}};
{}extern "C" __global__ void {}__launch_bounds__({}, 1)
    warpgroup_gemm(const Layer::Element* __restrict__ input, const unsigned char* __restrict__ weights,
                      const float* __restrict__ biases{}, Layer::Element* __restrict__ output) {{
  warp_specialized_gemm<Layer>(input, weights, biases, output, {});
}}
)",
                     wgmma_ss_source(shape.dtype, tile.rows), layer, post_ops.definition, cluster, tile.threads(),
                     post_ops.parameters, post_ops.value);
}

namespace {

// Cost model in SM cycles, fitted to measurements on an H200.
constexpr double kLaunch = 2290;      // launch latency, first loads, last stores
constexpr double kRow = 2.94;         // of one row x 64 filters x 64 channels
constexpr double kMoments = 3.5;      // of the moments of a row's 64 channels; issue-bound
constexpr double kCopyRate = 74;      // bytes loaded per cycle
constexpr double kLatency = 970;      // from an empty stage to its data
constexpr double kStep = 160;         // synchronisation per k-step
constexpr double kItem = 30;          // epilogue of one vector per lane
constexpr double kSplitSums = 40;     // split-K reduction
constexpr double kSplitColumn = 175;  // sending and adding one column group
constexpr double kNeighbour = 200;    // of another block on the SM
constexpr double kCrowded = 235;      // late start when two launches do not fit in shared memory together

}  // namespace

double warpgroup_time(const WarpgroupShape& shape, const WarpgroupTile& tile, const DeviceLimits& limits) {
  const WarpgroupTiling tiling(shape, tile);
  const ConvolutionGrid grid = warpgroup_grid(shape, tile);
  const int resident = std::clamp(233472 / (tiling.shared_bytes + 1024), 1, 2048 / tile.threads());
  const int resident_blocks = std::min(resident, ceil_div(grid.blocks(), limits.multiprocessors));
  const double waves = std::ceil(grid.blocks() / (static_cast<double>(limits.multiprocessors) * resident_blocks));
  const double products = resident_blocks * tile.warpgroups * tile.tiles * tile.depth * kRow * tile.rows;
  const double moments = shape.epsilon ? resident_blocks * tile.depth * kMoments * tile.rows : 0;
  const double multiply = std::max(products, moments);
  // The weights of the first stages arrive before the inputs.
  const double inputs = resident_blocks * (tiling.stage_bytes - tiling.weight_bytes) / kCopyRate;
  const double both = resident_blocks * tiling.stage_bytes / kCopyRate;
  const double refill = kLatency / std::max(tiling.stages - 1.0, 0.7);
  const double body = tiling.stages * (std::max(multiply, inputs) + kStep) +
                      (tiling.block_steps - tiling.stages) * (std::max({multiply, both, refill}) + kStep);
  const double leave = kItem * 2 * tiling.owned * tile.tiles * resident_blocks * (1 + tile.warpgroups) / 2;
  const double split =
      tile.split > 1 ? resident_blocks * (kSplitSums + kSplitColumn * tiling.columns * tile.tiles * tile.warpgroups)
                     : 0;
  const double late = kCrowded * std::max(0.0, tiling.shared_bytes * resident_blocks / 115000.0 - 1) +
                      kNeighbour * (resident_blocks - 1);
  return (kLaunch + late + waves * (body + leave + split)) / 1740;
}

std::vector<WarpgroupTile> warpgroup_tiles(const WarpgroupShape& shape, const DeviceLimits& limits) {
  struct Scored {
    double time;
    WarpgroupTile tile;
  };
  std::vector<Scored> found;
  const auto consider = [&](const WarpgroupTile& tile) {
    const WarpgroupTiling tiling(shape, tile);
    const bool registers = tile.tiles * tile.rows / 2 <= 128;
    const bool wide = tile.filters() > 64 && tile.filters() >= 2 * shape.filters;
    if (!registers || wide || tiling.shared_bytes > limits.shared_bytes || tile.split > tiling.steps) return;
    if (shape.epsilon && tile.split > 1) return;                          // needs whole rows
    if (shape.epsilon && tile.warpgroups > 1 && tile.rows > 224) return;  // moments take registers as well
    if (tile.split > tiling.columns || (tile.stages > 2 && tile.stages > tiling.block_steps)) return;
    found.push_back({warpgroup_time(shape, tile, limits), tile});
  };
  std::set<int> rows;
  for (int tiles = ceil_div(shape.rows, kMaxRows); tiles <= shape.rows; ++tiles) {
    const int each = instruction_rows(ceil_div(shape.rows, tiles));
    rows.insert(each);
    if (each <= 16) break;
  }
  for (int each : rows)
    for (int tiles : {1, 2})
      for (int warpgroups : {1, 2})
        for (int depth : {1, 2})
          for (int split : {1, 2, 3, 4})
            for (int stages : {2, 3, 4, 5, 6, 8, 10, 12}) consider({each, tiles, warpgroups, depth, split, stages});
  std::ranges::stable_sort(found, {}, &Scored::time);
  std::vector<WarpgroupTile> tiles;
  tiles.reserve(found.size());
  for (const Scored& each : found) tiles.push_back(each.tile);
  return tiles;
}

std::vector<WarpgroupTile> distinct_tiles(const std::vector<WarpgroupTile>& tiles, std::size_t count) {
  std::vector<WarpgroupTile> distinct;
  std::set<std::array<int, 4>> seen;
  for (const WarpgroupTile& tile : tiles) {
    if (distinct.size() == count) break;
    if (seen.insert({tile.rows, tile.tiles, tile.warpgroups, tile.split}).second) distinct.push_back(tile);
  }
  return distinct;
}

}  // namespace saccade::cuda
