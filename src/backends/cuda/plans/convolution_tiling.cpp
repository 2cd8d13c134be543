#include "cuda/plans/convolution_tiling.hpp"

#include <algorithm>

#include "cuda/plans/rounding.hpp"

namespace saccade::cuda {

int element_bytes(const ConvolutionShape& shape) { return shape.dtype == DType::kFloat32 ? 4 : 2; }
bool is_tensor(const ConvolutionShape& shape) { return element_bytes(shape) == 2 || shape.tf32; }
bool is_bytes(const ConvolutionShape& shape) { return shape.dtype == DType::kInt8 || shape.dtype == DType::kUInt8; }
int mma_k_of(const ConvolutionShape& shape) { return is_tensor(shape) ? 32 / element_bytes(shape) : 4; }

ConvolutionTiling::ConvolutionTiling(const ConvolutionShape& s, const ConvolutionTile& t) {
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
  shared_bytes =
      round_up(std::max(stages * (input_bytes + weight_bytes), partial_bytes), 128) + receive_bytes + 8 * (stages + 1);
  filter_tiles = ceil_div(s.filters, t.filters);
}

int load_width(const ConvolutionShape& shape) {
  const int most = 16 / element_bytes(shape);
  const int four_bytes = 4 / element_bytes(shape);
  if (shape.in_pitch % most == 0 && shape.channels % most == 0) return most;
  return shape.in_pitch % four_bytes == 0 && shape.channels % four_bytes == 0 ? four_bytes : 1;
}

int loads_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const ConvolutionTiling& tiling) {
  return ceil_div(tiling.loaded_pixels * (tiling.few ? 1 : tile.step / load_width(shape)), tile.threads());
}

int registers_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const ConvolutionTiling& tiling) {
  const int sums = 4 * tiling.m * tiling.n;
  const int places = !tiling.all_taps && shape.taps() > 1 ? 2 : 1;
  const int copies = element_bytes(shape) == 4 ? places * loads_of(shape, tile, tiling) : 0;
  return sums + 8 * tiling.m + copies + (is_tensor(shape) ? 4 * tiling.n + 40 : 2 * tiling.n + 56);
}

}  // namespace saccade::cuda
