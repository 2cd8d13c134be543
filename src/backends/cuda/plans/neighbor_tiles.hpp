#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/plans/attention_plan.hpp"
#include "cuda/plans/gemm_plan.hpp"
#include "cuda/plans/warpgroup_plan.hpp"

namespace saccade::cuda {

/// Local search: the first COUNT of TILES that differ from the tile TEXT, as to_string() writes it, in one property
/// only: stages, k-step, or the arrangement of warps or pixels, which distinct_tiles() leaves to the cost model.
/// Round-robin over these, the most promising first. Empty if TEXT is none of TILES.
std::vector<std::string> neighbor_tiles(const std::vector<ConvolutionTile>& tiles, std::string_view text,
                                        std::size_t count);
std::vector<std::string> neighbor_tiles(const std::vector<GemmTile>& tiles, std::string_view text, std::size_t count);
std::vector<std::string> neighbor_tiles(const std::vector<WarpgroupTile>& tiles, std::string_view text,
                                        std::size_t count);
std::vector<std::string> neighbor_tiles(const std::vector<AttentionTile>& tiles, std::string_view text,
                                        std::size_t count);

}  // namespace saccade::cuda
