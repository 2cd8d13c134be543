#include "cuda/plans/gemm_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "cuda/kernels/gemm_tiling.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

const char* name_of(DType type) {
  return type == DType::kFloat32 ? "float" : type == DType::kFloat16 ? "float16" : "bfloat16";
}

using Constants = std::initializer_list<std::pair<const char*, int>>;
std::string layer_text(DType type, Constants constants) {
  std::string text = fmt::format("struct Layer {{\n  using Element = {};\n", name_of(type));
  for (const auto& [name, value] : constants) text += fmt::format("  static constexpr int k{} = {};\n", name, value);
  return text + "};\n";
}

/// The tile that TEXT describes, or the first.
template <typename Tile>
Tile named_or_first(const std::vector<Tile>& tiles, std::string_view text) {
  if (!text.empty())
    for (const Tile& tile : tiles)
      if (tile.to_string() == text) return tile;
  return tiles.front();
}

}  // namespace

std::string GemmTile::to_string() const {
  return fmt::format("product {}x{} k{} w{}x{} p{}", m, n, step, warps_m, warps_n, stages);
}

namespace {

/// Whether accumulators and fragments fit in registers with two resident blocks per SM.
bool fits_registers(const GemmShape& shape, const GemmTile& tile) {
  const GemmTiling tiling(shape, tile);
  const int products = tiling.m * tiling.n;
  const int most = std::min(65536 / (2 * tile.threads()), 255);
  return products <= 16 && (shape.dtype != DType::kFloat32 || 4 * products + 8 * tiling.m + 2 * tiling.n + 56 <= most);
}

}  // namespace

int gemm_shared_bytes(const GemmShape& shape, const GemmTile& tile) { return GemmTiling(shape, tile).shared_bytes; }

double gemm_time(const GemmShape& shape, const GemmTile& tile, const DeviceLimits& limits) {
  const bool tensor = shape.dtype != DType::kFloat32;
  const int blocks = ceil_div(shape.m, tile.m) * ceil_div(shape.n, tile.n) * shape.batches;
  const int shared = gemm_shared_bytes(shape, tile);
  const int warps = tile.threads() / 32;
  const int resident = std::clamp(std::min(233472 / (shared + 1024), 32 / warps), 1, 16);
  const int resident_blocks = std::min(resident, ceil_div(blocks, limits.multiprocessors));
  const double waves = std::ceil(blocks / (static_cast<double>(limits.multiprocessors) * resident_blocks));
  const double contention = std::max(1.0, warps * resident_blocks / 4.0);
  const double accumulators = tile.m * tile.n / 128.0 / warps;
  const double units = tile.step / (tensor ? 16.0 : 4.0);
  const double step = units * std::max(110.0, accumulators * (tensor ? 8 : 16) * contention);
  const double copy = resident_blocks * (tile.m + tile.n) * tile.step * shape.element_bytes() / 26.0;
  const double steps = ceil_div(shape.k, tile.step);
  const double refill = std::max(copy, steps > tile.stages - 1 ? 570.0 / (tile.stages - 1) : 0.0);
  const double cycles =
      1180 + waves * (570 + copy + steps * (std::max(step, refill) + 90) + 60 * accumulators * contention);
  return cycles / 1740;
}

std::vector<GemmTile> gemm_tiles(const GemmShape& shape, const DeviceLimits& limits) {
  std::vector<std::pair<double, GemmTile>> found;
  for (int m : {16, 32, 64, 128})
    for (int n : {16, 32, 64, 128})
      for (int step : {16, 32, 64})
        for (int warps_m : {1, 2, 4})
          for (int warps_n : {1, 2, 4})
            for (int stages : {2, 3, 4}) {
              const GemmTile tile{m, n, step, warps_m, warps_n, stages};
              if (m % (16 * warps_m) != 0 || n % (16 * warps_n) != 0 || warps_m * warps_n > 8) continue;
              if (!fits_registers(shape, tile) || gemm_shared_bytes(shape, tile) > limits.shared_bytes) continue;
              if ((m > 16 && m >= 2 * shape.m) || (n > 16 && n >= 2 * shape.n)) continue;
              found.emplace_back(gemm_time(shape, tile, limits), tile);
            }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
  std::vector<GemmTile> tiles;
  tiles.reserve(found.size());
  for (const auto& each : found) tiles.push_back(each.second);
  return tiles;
}

GemmTile configured_gemm_tile(const GemmShape& shape, const DeviceLimits& limits, std::string_view text) {
  return named_or_first(gemm_tiles(shape, limits), text);
}

std::vector<std::string> gemm_configurations(const GemmShape& shape, const DeviceLimits& limits, std::size_t count) {
  std::vector<std::string> texts;
  std::set<std::array<int, 4>> seen;
  for (const GemmTile& tile : gemm_tiles(shape, limits)) {
    if (texts.size() == count) break;
    if (seen.insert({tile.m, tile.n, tile.step, tile.warps_m * tile.warps_n}).second) texts.push_back(tile.to_string());
  }
  return texts;
}

std::string gemm_source(const GemmShape& shape, const GemmTile& tile, const PostOpsText& post_ops) {
  const std::string layer = layer_text(shape.dtype, {{"InnerBatches", shape.inner_batches},
                                                     {"M", shape.m},
                                                     {"N", shape.n},
                                                     {"K", shape.k},
                                                     {"Lda", shape.lda},
                                                     {"AOuterStride", shape.a_outer_stride},
                                                     {"AInnerStride", shape.a_inner_stride},
                                                     {"Ldb", shape.ldb},
                                                     {"BOuterStride", shape.b_outer_stride},
                                                     {"BInnerStride", shape.b_inner_stride},
                                                     {"TransB", shape.transposed},
                                                     {"Bias", shape.bias},
                                                     {"TileM", tile.m},
                                                     {"TileN", tile.n},
                                                     {"Step", tile.step},
                                                     {"WarpsM", tile.warps_m},
                                                     {"WarpsN", tile.warps_n},
                                                     {"Stages", tile.stages}});
  return fmt::format(R"(#include "gemm.cuh"
// {} bytes of dynamic shared memory
{}{}extern "C" __global__ void __launch_bounds__({}, 2)
    gemm(const Layer::Element* __restrict__ a, const Layer::Element* __restrict__ b,
            const Layer::Element* __restrict__ biases{}, Layer::Element* __restrict__ output) {{
  batched_gemm<Layer>(a, b, biases, output, {});
}}
)",
                     gemm_shared_bytes(shape, tile), layer, post_ops.definition, tile.threads(), post_ops.parameters,
                     post_ops.value);
}

std::string DepthwiseTile::to_string() const { return fmt::format("depthwise {}x{} t{}", pixels, vector, threads); }

bool is_depthwise(const ConvolutionShape& shape) {
  return shape.groups > 1 && shape.channels == 1 && shape.filters == 1;
}

int depthwise_blocks(const ConvolutionShape& shape, const DepthwiseTile& tile) {
  const int strips = shape.images * shape.out_height * ceil_div(shape.out_width, tile.pixels);
  return ceil_div(strips * (shape.groups / tile.vector), tile.threads);
}

std::vector<DepthwiseTile> depthwise_tiles(const ConvolutionShape& shape, const DeviceLimits& limits) {
  DepthwiseTile tile{.vector = 16 / shape.element_bytes()};
  while (shape.groups % tile.vector != 0) tile.vector /= 2;
  // More pixels per thread reuse more inputs, but need enough threads to fill the device.
  while (tile.pixels > 1 && depthwise_blocks(shape, tile) < 2 * limits.multiprocessors) tile.pixels /= 2;
  while (tile.threads > 32 && depthwise_blocks(shape, tile) < limits.multiprocessors) tile.threads /= 2;
  std::vector<DepthwiseTile> tiles = {tile};
  for (int vector = tile.vector; vector >= std::max(1, tile.vector / 4); vector /= 2)
    for (int pixels : {1, 2, 4, 8})
      for (int threads : {32, 64, 128, 256})
        if (vector != tile.vector || pixels != tile.pixels || threads != tile.threads)
          tiles.push_back({.vector = vector, .pixels = pixels, .threads = threads});
  const auto distance = [&](const DepthwiseTile& other) {
    const auto octaves = [](int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); };
    return octaves(other.vector, tile.vector) + octaves(other.pixels, tile.pixels) +
           octaves(other.threads, tile.threads);
  };
  std::ranges::stable_sort(tiles, {}, distance);
  return tiles;
}

DepthwiseTile configured_depthwise_tile(const ConvolutionShape& shape, const DeviceLimits& limits,
                                        std::string_view text) {
  return named_or_first(depthwise_tiles(shape, limits), text);
}

std::vector<std::byte> pack_depthwise_weights(const ConvolutionShape& shape, std::span<const float> weights) {
  const auto taps = static_cast<std::size_t>(shape.taps());
  const auto channels = static_cast<std::size_t>(shape.groups);
  const auto bytes = static_cast<std::size_t>(shape.element_bytes());
  std::vector<std::byte> packed(taps * channels * bytes);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t tap = 0; tap < taps; ++tap) {
      const float value = weights[channel * taps + tap];
      std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
      if (shape.dtype == DType::kFloat16) bits = Float16(value).bits;
      if (shape.dtype == DType::kBFloat16) bits = BFloat16(value).bits;
      std::memcpy(packed.data() + (tap * channels + channel) * bytes, &bits, bytes);
    }
  }
  return packed;
}

std::string depthwise_source(const ConvolutionShape& shape, const DepthwiseTile& tile, const PostOpsText& post_ops) {
  const std::string layer = layer_text(shape.dtype, {{"Images", shape.images},
                                                     {"Height", shape.height},
                                                     {"Width", shape.width},
                                                     {"Channels", shape.groups},
                                                     {"InPitch", shape.in_pitch},
                                                     {"OutPitch", shape.out_pitch},
                                                     {"OutHeight", shape.out_height},
                                                     {"OutWidth", shape.out_width},
                                                     {"KernelHeight", shape.kernel_height},
                                                     {"KernelWidth", shape.kernel_width},
                                                     {"StrideY", shape.stride_y},
                                                     {"StrideX", shape.stride_x},
                                                     {"PadY", shape.pad_y},
                                                     {"PadX", shape.pad_x},
                                                     {"DilationY", shape.dilation_y},
                                                     {"DilationX", shape.dilation_x},
                                                     {"Vector", tile.vector},
                                                     {"Pixels", tile.pixels},
                                                     {"Threads", tile.threads}});
  return fmt::format(R"(#include "depthwise.cuh"
{}{}extern "C" __global__ void __launch_bounds__({})
    depthwise(const Layer::Element* __restrict__ input, const Layer::Element* __restrict__ weights,
              const float* __restrict__ biases{}, Layer::Element* __restrict__ output) {{
  depthwise_convolution<Layer>(input, weights, biases, output, {});
}}
)",
                     layer, post_ops.definition, tile.threads, post_ops.parameters, post_ops.value);
}

}  // namespace saccade::cuda
