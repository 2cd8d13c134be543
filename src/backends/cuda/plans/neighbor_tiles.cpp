#include "cuda/plans/neighbor_tiles.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

namespace saccade::cuda {
namespace {

/// Which of stages, k-step, warp arrangement and pixel arrangement differ. Nothing if the tiles differ in anything
/// else. A different k-step implies a different number of stages.
using Differences = std::array<bool, 4>;

Differences differences(bool stages, bool step, bool warps, bool pixels) {
  return {stages && !step, step, warps, pixels};
}

std::optional<Differences> differences(const ConvolutionTile& a, const ConvolutionTile& b) {
  const auto key = [](const ConvolutionTile& tile) {
    return std::tuple(tile.staging, tile.height * tile.width, tile.filters, tile.split);
  };
  const auto warps = [](const ConvolutionTile& tile) { return std::tuple(tile.warps_m, tile.warps_n, tile.warps_k); };
  if (key(a) != key(b)) return {};
  return differences(a.stages != b.stages, a.step != b.step, warps(a) != warps(b), a.height != b.height);
}

std::optional<Differences> differences(const GemmTile& a, const GemmTile& b) {
  if (a.m != b.m || a.n != b.n) return {};
  const bool warps = a.warps_m != b.warps_m || a.warps_n != b.warps_n;
  return differences(a.stages != b.stages, a.step != b.step, warps, false);
}

std::optional<Differences> differences(const WarpgroupTile& a, const WarpgroupTile& b) {
  const auto key = [](const WarpgroupTile& tile) {
    return std::tuple(tile.rows, tile.tiles, tile.warpgroups, tile.split);
  };
  if (key(a) != key(b)) return {};
  return differences(a.stages != b.stages, a.depth != b.depth, false, false);
}

std::optional<Differences> differences(const AttentionTile& a, const AttentionTile& b) {
  const auto key = [](const AttentionTile& tile) {
    return std::tuple(tile.tiles, tile.groups, tile.splits, tile.step, tile.warpgroups);
  };
  if (key(a) != key(b)) return {};
  return differences(a.stages != b.stages, false, false, false);
}

/// Round-robin over the kinds of difference, the most promising first.
template <typename Tile>
std::vector<std::string> neighbors(const std::vector<Tile>& tiles, std::string_view text, std::size_t count) {
  const auto centre = std::ranges::find(tiles, text, &Tile::to_string);
  if (centre == tiles.end()) return {};
  std::array<std::vector<std::string>, 4> by_difference;
  for (const Tile& tile : tiles) {
    const auto found = differences(tile, *centre);
    if (!found || std::ranges::count(*found, true) != 1) continue;
    by_difference[static_cast<std::size_t>(std::ranges::find(*found, true) - found->begin())].push_back(
        tile.to_string());
  }
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < tiles.size() && texts.size() < count; ++rank)
    for (const std::vector<std::string>& each : by_difference)
      if (rank < each.size() && texts.size() < count) texts.push_back(each[rank]);
  return texts;
}

}  // namespace

std::vector<std::string> neighbor_tiles(const std::vector<ConvolutionTile>& tiles, std::string_view text,
                                        std::size_t count) {
  return neighbors(tiles, text, count);
}
std::vector<std::string> neighbor_tiles(const std::vector<GemmTile>& tiles, std::string_view text, std::size_t count) {
  return neighbors(tiles, text, count);
}
std::vector<std::string> neighbor_tiles(const std::vector<WarpgroupTile>& tiles, std::string_view text,
                                        std::size_t count) {
  return neighbors(tiles, text, count);
}
std::vector<std::string> neighbor_tiles(const std::vector<AttentionTile>& tiles, std::string_view text,
                                        std::size_t count) {
  return neighbors(tiles, text, count);
}

}  // namespace saccade::cuda
