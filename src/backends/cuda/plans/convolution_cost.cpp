#include <algorithm>
#include <cmath>

#include "cuda/plans/convolution_tiling.hpp"

namespace saccade::cuda {
namespace {

// Cost model in SM cycles, fitted to measurements on an H200.
constexpr double kMmaLatency = 30;       // of a warp's MMA step (K = 16; 4 for float32)
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
  const ConvolutionTiling tiling(shape, tile);
  const ConvolutionGrid grid = convolution_grid(shape, tile);
  const int warps = tile.threads() / 32;
  // Resident blocks per SM, and waves.
  const int registers = registers_of(shape, tiling);
  const int resident = std::clamp(
      std::min({233472 / (tiling.shared_bytes + 1024), 64 / warps, 65536 / (tile.threads() * registers)}), 1, 32);
  const int resident_blocks = std::min(resident, ceil_div(grid.blocks(), limits.multiprocessors));
  const double waves = std::ceil(grid.blocks() / (static_cast<double>(limits.multiprocessors) * resident_blocks));
  // Cycles of a k-step: MMA (or FFMA), fragment loads and input loads; a single warp cannot overlap them.
  const double units = static_cast<double>(tiling.depth) / mma_k_of(shape) / tile.warps_k;
  const double contention = std::max(1.0, warps * resident_blocks / 4.0);
  const double accumulators = tiling.m * tiling.n;
  const double multiply = accumulators * (is_tensor(shape) ? 8 : 16) * contention;
  const double fragments = (is_tensor(shape) ? (tiling.few ? 4.0 : 1.0) * tiling.m * 4 + tiling.n * 2.0
                                             : 2.0 * tiling.m * 4 + tiling.n * 8.0) *
                           warps * resident_blocks;
  const double step_cycles = units * std::max(kMmaLatency, multiply + kShared * fragments);
  // Loads. Weights have already arrived if all k-steps are in flight at once.
  const int vector = tiling.few ? 2 : tiling.vector * shape.element_bytes();
  const double vectors =
      static_cast<double>(tiling.loaded_pixels) * (tiling.few ? 3 : tile.step * shape.element_bytes() / vector);
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

}  // namespace saccade::cuda
