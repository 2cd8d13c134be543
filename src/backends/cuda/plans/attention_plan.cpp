#include "cuda/plans/attention_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "cuda/kernels/attention_tiling.hpp"
#include "cuda/plans/wgmma_source.hpp"

namespace saccade::cuda {
namespace {

const char* name_of(DType type) {
  return type == DType::kFloat64   ? "double"
         : type == DType::kFloat32 ? "float"
         : type == DType::kFloat16 ? "float16"
                                   : "bfloat16";
}

bool is_tensor(const AttentionShape& shape) { return shape.dtype != DType::kFloat32 || shape.tf32; }
int qk_dim_of(const AttentionShape& shape) { return round_up(shape.channels(), 16); }
int v_dim_of(const AttentionShape& shape) { return round_up(shape.value_channels(), 16); }

/// Element offset of iteration `at` of a loop nest, as an expression.
std::string along(const AccessPattern::Loop& loop) {
  std::string sum;
  std::int64_t inner = 1;
  for (auto affine = loop.rbegin(); affine != loop.rend(); inner *= affine->count, ++affine) {
    if (affine->step == 0) continue;
    std::string iteration = inner == 1 ? "at" : fmt::format("at / {}", inner);
    if (affine + 1 != loop.rend()) iteration += fmt::format(" % {}", affine->count);
    sum += fmt::format("{}{} * {}", sum.empty() ? "" : " + ", iteration, affine->step);
  }
  return sum.empty() ? "0" : sum;
}

bool is_contiguous(const AccessPattern::Loop& loop) { return !loop.empty() && loop.back().step == 1; }

/// Channels per vector access: the widest vector that divides every offset, step and count.
int vector_of(const AccessPattern& pattern, int bytes) {
  const AccessPattern::Loop& channels = pattern.loops[2];
  if (channels.size() != 1 || channels[0].step != 1) return 1;
  const auto fits = [&](std::int64_t vector) {
    bool whole = pattern.offset % vector == 0 && channels[0].count % vector == 0;
    for (const std::size_t loop : {0, 1})
      for (const AffineLoop& affine : pattern.loops[loop]) whole = whole && affine.step % vector == 0;
    return whole;
  };
  for (const int size : {16, 4})
    if (size > bytes && fits(size / bytes)) return size / bytes;
  return 1;
}

std::string tensor_text(const char* name, const AccessPattern& pattern, int bytes) {
  return fmt::format(R"(  struct {} {{
    static constexpr int kVector = {};
    static constexpr bool kTokensContiguous = {};
    static __device__ __forceinline__ int batch(int at) {{ return {} + {}; }}
    static __device__ __forceinline__ int token(int at) {{ return {}; }}
    static __device__ __forceinline__ int channel(int at) {{ return {}; }}
  }};
)",
                     name, vector_of(pattern, bytes),
                     is_contiguous(pattern.loops[1]) && !is_contiguous(pattern.loops[2]), pattern.offset,
                     along(pattern.loops[0]), along(pattern.loops[1]), along(pattern.loops[2]));
}

/// Estimated registers per thread: query fragments, scores, accumulators, and an allowance for addressing.
int registers_of(const AttentionShape& shape, const AttentionTile& tile) {
  const bool half_precision = shape.dtype != DType::kFloat32;
  const int kept = half_precision && qk_dim_of(shape) <= 64 ? qk_dim_of(shape) / 4 : 0;
  return tile.tiles * (kept + 8 + tile.step / 2 + v_dim_of(shape) / 2) + 56;
}

/// The same for the warpgroup kernel: scores, their mask, and accumulators.
int warpgroup_registers_of(const AttentionShape& shape, const AttentionTile& tile) {
  return tile.step / 2 * (shape.patterns.mask ? 2 : 1) + v_dim_of(shape) / 2 + 54;
}

bool fits(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits) {
  if (tile.threads() > 512 || attention_shared_bytes(shape, tile) > limits.shared_bytes) return false;
  if (registers_of(shape, tile) > std::min(255, 65536 / tile.threads() / 8 * 8)) return false;
  // Reject warps without a query or a key, and stages without a k-step.
  if (tile.rows() > 16 && tile.rows() - 16 * tile.tiles >= shape.queries()) return false;
  if (tile.splits > 1 && (tile.splits - 1) * tile.step >= shape.keys()) return false;
  return tile.stages == 2 || (tile.stages - 1) * tile.splits * tile.step < shape.keys();
}

}  // namespace

std::string AttentionTile::to_string() const {
  if (warpgroups) return fmt::format("attention warpgroups s{} k{} p{}", splits, step, stages);
  return fmt::format("attention {} g{} s{} k{} p{}", 16 * tiles, groups, splits, step, stages);
}

int attention_shared_bytes(const AttentionShape& shape, const AttentionTile& tile) {
  return tile.warpgroups ? WarpgroupAttentionTiling(shape, tile).shared_bytes
                         : AttentionTiling(shape, tile).shared_bytes;
}

int attention_blocks(const AttentionShape& shape, const AttentionTile& tile) {
  return ceil_div(shape.queries(), tile.rows());
}

namespace {

/// Cost model in cycles. A warpgroup's k-step takes its wgmmas, their latency and its softmax; the warpgroups of an SM
/// contend for the latter. Loads limit it where stages are reused. Calibrated on an H200: 7 steps of two warpgroups
/// with 64 keys of 64 channels take 7800 cycles.
double warpgroup_cycles(const AttentionShape& shape, const AttentionTile& tile, int resident_blocks, double waves) {
  const int depths = qk_dim_of(shape) + v_dim_of(shape);
  const double products = tile.step * depths / 32.0;
  const double scores = tile.step / 2 * 10.0 + v_dim_of(shape) / 2 + 60;
  const double copy = tile.step * depths * 2 / 50.0;
  const double contention = resident_blocks * tile.splits;
  const int steps = ceil_div(shape.keys(), tile.step);
  const double refill = tile.stages < steps ? 970.0 * tile.splits / std::max(tile.stages - tile.splits, 1) : 0;
  const double round =
      std::max({products + scores + 420, contention * scores, contention * products, contention * copy, refill});
  const double rounds = ceil_div(steps, tile.splits);
  const double sums = resident_blocks * tile.splits * tile.rows() * v_dim_of(shape) * 4.0 / 55;
  return 2200 + waves * (copy * 1.2 + rounds * round + sums);
}

}  // namespace

double attention_time(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits) {
  const bool tensor = is_tensor(shape);
  const int blocks = attention_blocks(shape, tile) * static_cast<int>(shape.patterns.batches());
  const int warps = tile.threads() / 32;
  const int shared = attention_shared_bytes(shape, tile);
  const int registers = tile.warpgroups ? warpgroup_registers_of(shape, tile) : registers_of(shape, tile);
  const int resident = std::clamp(
      std::min({233472 / (shared + 1024), 65536 / (tile.threads() * round_up(registers, 8)), 64 / warps}), 1, 16);
  const int resident_blocks = std::min(resident, ceil_div(blocks, limits.multiprocessors));
  const double waves = std::ceil(blocks / (static_cast<double>(limits.multiprocessors) * resident_blocks));
  if (tile.warpgroups) return warpgroup_cycles(shape, tile, resident_blocks, waves) / 1740;
  const double contention = std::max(1.0, warps * resident_blocks / 4.0);
  const double steps = ceil_div(shape.keys(), tile.splits * tile.step);
  // Cycles of a warp's k-step: MMAs, exponentials and fragment loads. Part is latency of the warp itself, part is
  // contention with the other warps of the SM.
  const int depths = qk_dim_of(shape) + v_dim_of(shape);
  const int k_ratio = tensor ? shape.element_bytes() / 2 : 1;  // tf32 fragments have half the K
  const double products = tile.tiles * (tile.step / 8) * (depths / 16) * (tensor ? 8 * k_ratio : 64);
  const double scores = tile.tiles * (tile.step / 8 * 40 + v_dim_of(shape) + 40);
  const double fragments = tile.step / 16 * depths / 2 * k_ratio;
  const double alone = (tensor ? 0.53 : 0.44) * (products + scores + fragments);
  const double beside =
      contention * (tensor ? 0.12 * products + 0.47 * scores + 1.18 * fragments : 0.9 * products + 14 * fragments);
  const double copy = resident_blocks * tile.splits * tile.step * depths * shape.element_bytes() / 50.0;
  const double step = (tensor ? 240 : 1300) + alone + beside + copy + 80.0 / (tile.stages - 1);
  const double sums = resident_blocks * tile.splits * tile.rows() * v_dim_of(shape) * 4.0 / 55;
  // All blocks wait for the first loads.
  const double cycles = 2200 + waves * (copy * 1.2 + steps * step + sums);
  return cycles / 1740;
}

namespace {

std::vector<AttentionTile> in_order(const AttentionShape& shape, std::span<const AttentionTile> tiles,
                                    const DeviceLimits& limits) {
  std::vector<std::pair<double, AttentionTile>> found;
  found.reserve(tiles.size());
  for (const AttentionTile& tile : tiles) found.emplace_back(attention_time(shape, tile, limits), tile);
  std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
  std::vector<AttentionTile> all;
  all.reserve(found.size());
  for (const auto& each : found) all.push_back(each.second);
  return all;
}

}  // namespace

std::vector<AttentionTile> attention_tiles(const AttentionShape& shape, const DeviceLimits& limits) {
  std::vector<AttentionTile> found;
  for (int tiles : {1, 2, 3})
    for (int groups : {1, 2, 3, 4})
      for (int splits : {1, 2, 4, 8})
        for (int step : {16, 32, 64})
          for (int stages : {2, 3, 4}) {
            const AttentionTile tile{tiles, groups, splits, step, stages};
            if (fits(shape, tile, limits)) found.push_back(tile);
          }
  return in_order(shape, found, limits);
}

std::vector<AttentionTile> warpgroup_attention_tiles(const AttentionShape& shape, const DeviceLimits& limits) {
  constexpr std::int64_t kMaxChannels = 128;
  const AttentionPatterns& patterns = shape.patterns;
  if (shape.dtype == DType::kFloat32 || patterns.channels() > kMaxChannels || patterns.value_channels() > kMaxChannels)
    return {};
  for (const AccessPattern* pattern : {&patterns.query, &patterns.key, &patterns.value})
    if (vector_of(*pattern, 2) != 8) return {};
  std::vector<AttentionTile> found;
  for (int splits : {1, 2, 3})
    for (int step : {32, 64, 96, 128})
      for (int stages : {2, 3, 4, 6, 8}) {
        const AttentionTile tile{
            .tiles = 1, .groups = 4, .splits = splits, .step = step, .stages = stages, .warpgroups = true};
        if (attention_shared_bytes(shape, tile) > limits.shared_bytes) continue;
        if (warpgroup_registers_of(shape, tile) > std::min(255, 65536 / tile.threads() / 8 * 8)) continue;
        const int steps = ceil_div(shape.keys(), step);
        if (splits < stages && splits <= steps && (stages == splits + 1 || stages <= steps)) found.push_back(tile);
      }
  return in_order(shape, found, limits);
}

std::vector<AttentionTile> distinct_tiles(const std::vector<AttentionTile>& tiles, std::size_t count) {
  std::vector<AttentionTile> distinct;
  std::set<std::array<int, 4>> seen;
  for (const AttentionTile& tile : tiles) {
    if (distinct.size() == count) break;
    if (seen.insert({tile.tiles, tile.groups, tile.splits, tile.step}).second) distinct.push_back(tile);
  }
  return distinct;
}

namespace {

/// Both GEMMs of the warpgroup kernel. PV takes 64 channels at a time.
std::string wgmma_sources(const AttentionShape& shape, const AttentionTile& tile) {
  if (!tile.warpgroups) return {};
  const int v_dim = v_dim_of(shape);
  std::string text = wgmma_ss_source(shape.dtype, tile.step);
  if (v_dim >= 64) text += wgmma_rs_source(shape.dtype, 64);
  if (v_dim % 64 != 0) text += wgmma_rs_source(shape.dtype, v_dim % 64);
  return text;
}

}  // namespace

std::string attention_source(const AttentionShape& shape, const AttentionTile& tile) {
  const int bytes = shape.element_bytes();
  const AttentionPatterns& patterns = shape.patterns;
  std::string layer =
      fmt::format("// {} bytes of dynamic shared memory\nstruct Layer {{\n", attention_shared_bytes(shape, tile));
  layer += fmt::format("  using Element = {};\n  using MaskElement = {};\n", name_of(shape.dtype),
                       name_of(patterns.mask ? shape.mask : shape.dtype));
  const std::initializer_list<std::pair<const char*, std::int64_t>> constants = {
      {"Queries", patterns.queries()},
      {"Keys", patterns.keys()},
      {"Channels", patterns.channels()},
      {"ValueChannels", patterns.value_channels()},
      {"Tiles", tile.tiles},
      {"Groups", tile.groups},
      {"Splits", tile.splits},
      {"Step", tile.step},
      {"Stages", tile.stages}};
  for (const auto& [name, value] : constants) layer += fmt::format("  static constexpr int k{} = {};\n", name, value);
  layer += fmt::format("  static constexpr bool kMasked = {};\n  static constexpr bool kTf32 = {};\n",
                       patterns.mask.has_value(), shape.tf32);
  layer += fmt::format("  static constexpr float kScale = {:.9e}F;\n", shape.scale);
  layer += tensor_text("Query", patterns.query, bytes) + tensor_text("Key", patterns.key, bytes) +
           tensor_text("Value", patterns.value, bytes) + tensor_text("Out", patterns.output, bytes) +
           tensor_text("Mask", patterns.mask.value_or(AccessPattern{}), bytes) + "};\n";
  const auto [header, function] = tile.warpgroups ? std::pair("attention_warpgroup", "flash_attention_warpgroup")
                                                  : std::pair("attention", "flash_attention");
  return fmt::format(R"(#include "{}.cuh"
{}{}extern "C" __global__ void __launch_bounds__({}, 1)
    attention(const Layer::Element* __restrict__ query, const Layer::Element* __restrict__ key,
              const Layer::Element* __restrict__ value, const Layer::MaskElement* __restrict__ mask,
              Layer::Element* __restrict__ output) {{
  {}<Layer>(query, key, value, mask, output);
}}
)",
                     header, wgmma_sources(shape, tile), layer, tile.threads(), function);
}

}  // namespace saccade::cuda
