#include "cuda/plans/convolution_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>

#include "cuda/plans/convolution_tiling.hpp"
#include "cuda/plans/neighbor_tiles.hpp"

namespace saccade::cuda {
namespace {

/// Limit for two resident blocks per SM, as the launch bounds of convolution_source() request.
int max_registers(const ConvolutionTile& tile) {
  return std::min(65536 / (2 * round_up(tile.threads(), 64)) / 8 * 8, 255);
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
  return ConvolutionTiling(shape, tile).shared_bytes;
}

namespace {

struct Choices {
  std::vector<std::pair<int, int>> pixels;  // height, width
  std::vector<int> filters;
  std::vector<int> steps;
};

Choices choices_of(const ConvolutionShape& shape, InputStaging staging) {
  Choices choices;
  if (staging == InputStaging::kTapGather) {
    choices.pixels = {{1, 16}, {1, 32}, {1, 48}, {1, 64}, {1, 96}, {1, 128}};
  } else {
    choices.pixels = {{1, 16}, {2, 8}, {4, 4},  {1, 32}, {2, 16}, {4, 8},  {4, 12},
                      {7, 7},  {8, 8}, {4, 16}, {2, 32}, {8, 16}, {16, 8}, {4, 32}};
    // For narrow images, tiles of whole rows.
    for (int rows : {1, 2, 4})
      if (shape.out_width <= 28 && shape.out_width >= 7) choices.pixels.emplace_back(rows, shape.out_width);
  }
  for (int filters : {16, 32, 48, 64, 80, 96, 128})
    if (filters == 16 || filters < shape.filters + 16) choices.filters.push_back(filters);
  const int align = mma_k_of(shape);
  if (staging == InputStaging::kFewChannels) {
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
  const ConvolutionTiling tiling(shape, tile);
  if (tiling.m * tiling.n > 16 || registers_of(shape, tiling) > max_registers(tile)) return false;
  if (tiling.shared_bytes > limits.shared_bytes) return false;
  if (tile.split > 1 && (tile.split > tiling.steps || !limits.clusters)) return false;
  if (tiling.loads > 24) return false;
  // If all k-steps are in flight at once, the number of stages makes no difference: keep one.
  return tile.stages == 2 || tile.stages <= tiling.block_steps;
}

/// Staging modes for SHAPE, in order of preference. The second is a fallback, tried as well for dilated kernels with
/// their large halos.
std::vector<InputStaging> stagings_of(const ConvolutionShape& shape) {
  if (shape.element_bytes() == 2 && !is_bytes(shape) && shape.channels <= 4 && shape.groups == 1)
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
  char staging[8] = {};
  ConvolutionTile tile;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%7s %dx%dx%d k%d w%dx%dx%d s%d p%d", staging, &tile.height, &tile.width, &tile.filters,
                  &tile.step, &tile.warps_m, &tile.warps_n, &tile.warps_k, &tile.split, &tile.stages) != 10)
    return {};
  const auto name = std::ranges::find(kStagingNames, std::string_view(staging));
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
  const auto enumerate = [&](InputStaging staging) {
    const Choices choices = choices_of(shape, staging);
    const bool few = staging == InputStaging::kFewChannels;
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
                    consider({staging, height, width, filters, step, warps_m, warps_n, warps_k, split, stages});
                }
  };
  for (InputStaging staging : stagings_of(shape))
    if (found.empty() || shape.dilation_y * shape.dilation_x > 1) enumerate(staging);
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
    const auto staging = static_cast<int>(tile.staging);
    if (seen.insert({staging, tile.height * tile.width, tile.filters, tile.warps_k, tile.split}).second)
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
