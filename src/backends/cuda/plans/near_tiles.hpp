#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/plans/attention_plan.hpp"
#include "cuda/plans/gemm_plan.hpp"
#include "cuda/plans/warpgroup_plan.hpp"

namespace saccade::cuda {

/// The first COUNT of TILES that differ from the one whose to_string() is TEXT in one thing: the ring, the step, the
/// arrangement of warps or pixels, most of which a first search leaves to the model (distinct_tiles()); of each in turn
/// the most promising. As texts; none where TEXT is none of TILES.
std::vector<std::string> near_tiles(const std::vector<ConvolutionTile>& tiles, std::string_view text,
                                    std::size_t count);
std::vector<std::string> near_tiles(const std::vector<ProductTile>& tiles, std::string_view text, std::size_t count);
std::vector<std::string> near_tiles(const std::vector<WarpgroupTile>& tiles, std::string_view text, std::size_t count);
std::vector<std::string> near_tiles(const std::vector<AttentionTile>& tiles, std::string_view text, std::size_t count);

}  // namespace saccade::cuda
