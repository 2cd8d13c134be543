#include <bit>
#include <cmath>
#include <cstring>

#include "cuda/plans/convolution_tiling.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

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
int fragment_offset(const ConvolutionShape& shape, const ConvolutionTile& tile, const ConvolutionTiling& tiling,
                    int product, int filter) {
  if (!is_tensor(shape)) return product * tile.filters + filter;
  const int group = tiling.lane / 2;
  const int within = filter % (8 * group);
  const int q = within / (2 * group);
  const int column_block = filter / (8 * group) * group + within % (2 * group) / 2;  // n8 column block
  const int g = 2 * q + within % 2;
  const int held = 4 / shape.element_bytes();  // adjacent K values per register
  const int k = product % mma_k_of(shape);
  const int lane = 4 * g + k % (4 * held) / held;
  const int element = (column_block % 2 * 2 + k / (4 * held)) * held + k % held;
  const int column = product / mma_k_of(shape) * (tile.filters / 16) + column_block / 2;
  return column * 128 * held + lane * 4 * held + element;
}

}  // namespace

std::vector<std::byte> pack_convolution_weights(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                                std::span<const float> weights) {
  const ConvolutionTiling tiling(shape, tile);
  const std::size_t block = static_cast<std::size_t>(tiling.weight_bytes);
  std::vector<std::byte> packed(block * static_cast<std::size_t>(shape.groups * tiling.filter_tiles * tiling.steps));
  const int taps = shape.taps();
  const auto put = [&](std::size_t number, int product, int filter, float value) {
    std::byte* to = packed.data() + number * block;
    const auto place = static_cast<std::size_t>(fragment_offset(shape, tile, tiling, product, filter % tile.filters));
    if (shape.element_bytes() == 2) {
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

}  // namespace saccade::cuda
