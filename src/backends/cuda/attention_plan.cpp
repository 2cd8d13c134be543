#include "cuda/attention_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace saccade::cuda {
namespace {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }

int bytes_of(DType type) { return type == DType::kFloat32 ? 4 : 2; }
const char* name_of(DType type) {
  return type == DType::kFloat64   ? "double"
         : type == DType::kFloat32 ? "float"
         : type == DType::kFloat16 ? "float16"
                                   : "bfloat16";
}

int queries_of(const AttentionShape& shape) { return static_cast<int>(shape.walks.queries()); }
int keys_of(const AttentionShape& shape) { return static_cast<int>(shape.walks.keys()); }
int depth_of(const AttentionShape& shape) { return round_up(static_cast<int>(shape.walks.channels()), 16); }
int width_of(const AttentionShape& shape) { return round_up(static_cast<int>(shape.walks.value_channels()), 16); }

/// How far turn number AT is along.
std::string along(const Walk::Loop& loop) {
  std::string sum;
  std::int64_t inner = 1;
  for (auto steady = loop.rbegin(); steady != loop.rend(); inner *= steady->count, ++steady) {
    if (steady->step == 0) continue;
    std::string turn = inner == 1 ? "at" : fmt::format("at / {}", inner);
    if (steady + 1 != loop.rend()) turn += fmt::format(" % {}", steady->count);
    sum += fmt::format("{}{} * {}", sum.empty() ? "" : " + ", turn, steady->step);
  }
  return sum.empty() ? "0" : sum;
}

bool is_near(const Walk::Loop& loop) { return !loop.empty() && loop.back().step == 1; }

/// How many channels may be read or written at once: what everything else is a multiple of.
int vector_of(const Walk& walk, int bytes) {
  const Walk::Loop& channels = walk.loops[2];
  if (channels.size() != 1 || channels[0].step != 1) return 1;
  const auto fits = [&](std::int64_t vector) {
    bool whole = walk.offset % vector == 0 && channels[0].count % vector == 0;
    for (const std::size_t loop : {0, 1})
      for (const Steady& steady : walk.loops[loop]) whole = whole && steady.step % vector == 0;
    return whole;
  };
  for (const int size : {16, 4})
    if (size > bytes && fits(size / bytes)) return size / bytes;
  return 1;
}

std::string tensor_text(const char* name, const Walk& walk, int bytes) {
  return fmt::format(R"(  struct {} {{
    static constexpr int kVector = {};
    static constexpr bool kTokensAreNear = {};
    static __device__ __forceinline__ int batch(int at) {{ return {} + {}; }}
    static __device__ __forceinline__ int token(int at) {{ return {}; }}
    static __device__ __forceinline__ int channel(int at) {{ return {}; }}
  }};
)",
                     name, vector_of(walk, bytes), is_near(walk.loops[1]) && !is_near(walk.loops[2]), walk.offset,
                     along(walk.loops[0]), along(walk.loops[1]), along(walk.loops[2]));
}

/// Registers that a thread needs: fragments of queries, scores and sums, and what ptxas takes beside them.
int registers_of(const AttentionShape& shape, const AttentionTile& tile) {
  const bool tensor = shape.dtype != DType::kFloat32;
  const int kept = tensor && depth_of(shape) <= 64 ? depth_of(shape) / 4 : 0;
  return tile.tiles * (kept + 8 + tile.step / 2 + width_of(shape) / 2) + 56;
}

bool fits(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits) {
  if (tile.threads() > 512 || attention_shared_bytes(shape, tile) > limits.shared_bytes) return false;
  if (registers_of(shape, tile) > std::min(255, 65536 / tile.threads())) return false;
  // Warps without a query or a key, and stages without a step.
  if (tile.rows() > 16 && tile.rows() - 16 * tile.tiles >= queries_of(shape)) return false;
  if (tile.splits > 1 && (tile.splits - 1) * tile.step >= keys_of(shape)) return false;
  return tile.stages == 2 || (tile.stages - 1) * tile.splits * tile.step < keys_of(shape);
}

}  // namespace

std::string AttentionTile::to_string() const {
  return fmt::format("attention {} g{} s{} k{} p{}", 16 * tiles, groups, splits, step, stages);
}

int attention_shared_bytes(const AttentionShape& shape, const AttentionTile& tile) {
  const int bytes = bytes_of(shape.dtype);
  const int pad = 16 / bytes;
  const int depth = depth_of(shape) + pad;
  const int queries = tile.rows() * depth * bytes;
  const int stage = tile.splits * tile.step * (depth + width_of(shape) + pad) * bytes;
  const int weights = bytes == 2 ? 0 : tile.splits * tile.rows() * (tile.step + 4) * 4;
  const int sums = tile.splits * tile.rows() * (width_of(shape) + 8 + 2) * 4;
  return std::max(queries + tile.stages * stage + weights, sums);
}

int attention_blocks(const AttentionShape& shape, const AttentionTile& tile) {
  return ceil_div(queries_of(shape), tile.rows());
}

double attention_time(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits) {
  const bool tensor = shape.dtype != DType::kFloat32;
  const int blocks = attention_blocks(shape, tile) * static_cast<int>(shape.walks.batches());
  const int warps = tile.threads() / 32;
  const int shared = attention_shared_bytes(shape, tile);
  const int resident =
      std::clamp(std::min({233472 / (shared + 1024), 65536 / (tile.threads() * round_up(registers_of(shape, tile), 8)),
                           64 / warps}),
                 1, 16);
  const int at_once = std::min(resident, ceil_div(blocks, limits.multiprocessors));
  const double waves = std::ceil(blocks / (static_cast<double>(limits.multiprocessors) * at_once));
  const double crowd = std::max(1.0, warps * at_once / 4.0);
  const double steps = ceil_div(keys_of(shape), tile.splits * tile.step);
  // Of a warp's step, in cycles: products of 16 x 8 x 16, exponentials, and loads of fragments. Part of it a warp waits
  // for itself alone, part the warps beside it wait for.
  const int depths = depth_of(shape) + width_of(shape);
  const double products = tile.tiles * (tile.step / 8) * (depths / 16) * (tensor ? 8 : 64);
  const double scores = tile.tiles * (tile.step / 8 * 40 + width_of(shape) + 40);
  const double fragments = tile.step / 16 * depths / 2;
  const double alone = (tensor ? 0.53 : 0.44) * (products + scores + fragments);
  const double beside =
      crowd * (tensor ? 0.12 * products + 0.47 * scores + 1.18 * fragments : 0.9 * products + 14 * fragments);
  const double copy = at_once * tile.splits * tile.step * depths * bytes_of(shape.dtype) / 50.0;
  const double step = (tensor ? 240 : 1300) + alone + beside + copy + 80.0 / (tile.stages - 1);
  const double sums = at_once * tile.splits * tile.rows() * width_of(shape) * 4.0 / 55;
  // What the first step brings, all wait for.
  const double cycles = 2200 + waves * (copy * 1.2 + steps * step + sums);
  return cycles / 1740;
}

std::vector<AttentionTile> attention_tiles(const AttentionShape& shape, const DeviceLimits& limits) {
  std::vector<std::pair<double, AttentionTile>> found;
  for (int tiles : {1, 2, 3})
    for (int groups : {1, 2, 3, 4})
      for (int splits : {1, 2, 4, 8})
        for (int step : {16, 32, 64})
          for (int stages : {2, 3, 4}) {
            const AttentionTile tile{tiles, groups, splits, step, stages};
            if (fits(shape, tile, limits)) found.emplace_back(attention_time(shape, tile, limits), tile);
          }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
  std::vector<AttentionTile> all;
  all.reserve(found.size());
  for (const auto& each : found) all.push_back(each.second);
  return all;
}

std::string attention_source(const AttentionShape& shape, const AttentionTile& tile) {
  const int bytes = bytes_of(shape.dtype);
  const AttentionWalks& walks = shape.walks;
  std::string layer = fmt::format("struct Layer {{\n  using Element = {};\n  using MaskElement = {};\n",
                                  name_of(shape.dtype), name_of(walks.mask ? shape.mask : shape.dtype));
  const std::initializer_list<std::pair<const char*, std::int64_t>> constants = {
      {"Queries", walks.queries()},   {"Keys", walks.keys()},
      {"Channels", walks.channels()}, {"ValueChannels", walks.value_channels()},
      {"Tiles", tile.tiles},          {"Groups", tile.groups},
      {"Splits", tile.splits},        {"Step", tile.step},
      {"Stages", tile.stages},        {"SharedBytes", attention_shared_bytes(shape, tile)}};
  for (const auto& [name, value] : constants) layer += fmt::format("  static constexpr int k{} = {};\n", name, value);
  layer += fmt::format("  static constexpr bool kMasked = {};\n  static constexpr float kScale = {:.9e}F;\n",
                       walks.mask.has_value(), shape.scale);
  layer += tensor_text("Query", walks.query, bytes) + tensor_text("Key", walks.key, bytes) +
           tensor_text("Value", walks.value, bytes) + tensor_text("Answer", walks.output, bytes) +
           tensor_text("Mask", walks.mask.value_or(Walk{}), bytes) + "};\n";
  return fmt::format(R"(#include "attention.cuh"
{}extern "C" __global__ void __launch_bounds__({}, 1)
    attention(const Layer::Element* __restrict__ query, const Layer::Element* __restrict__ key,
              const Layer::Element* __restrict__ value, const Layer::MaskElement* __restrict__ mask,
              Layer::Element* __restrict__ output) {{
  attend<Layer>(query, key, value, mask, output);
}}
)",
                     layer, tile.threads());
}

}  // namespace saccade::cuda
