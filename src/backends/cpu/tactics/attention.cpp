#include <fmt/format.h>

#include <algorithm>

#include "base/integers.hpp"
#include "cpu/kernels/product_kernels.hpp"
#include "cpu/kernels/transpose_kernels.hpp"
#include "cpu/tactics/attention_parts.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/layers/strided_attention.hpp"

// saccade.StridedAttention in blocks of queries, whose scores stay in the cache. Keys and values are packed once into
// panels; the operands are read where they are, so that heads need no transposition. Many keys are taken in chunks,
// with the running maximum and sum of each row (online softmax: M. Milakov and N. Gimelshein, arXiv:1805.02867; T. Dao
// et al., arXiv:2205.14135).
//
// Bound: 2 * batches * queries * keys * (channels + value channels) operations / multiply-add peak.
namespace saccade::cpu {
namespace {

// Scores of a block and the keys and values of a chunk fit into an L2 of 512 KiB.
constexpr std::int64_t kMostQueries = 48;
constexpr std::int64_t kMostKeys = 512;

struct Geometry : AttentionSizes {
  Geometry(const AttentionPatterns& patterns, int threads) : AttentionSizes(patterns, threads, kMostQueries) {
    tile_rows = static_cast<std::int64_t>(product_kernels().rows);
    tile_columns = static_cast<std::int64_t>(product_kernels().columns);
    key_panels = ceil_div(keys, tile_columns);
    value_panels = ceil_div(value_channels, tile_columns);
    block = round_up(block, tile_rows);
    blocks = ceil_div(queries, block);
    chunk = std::min(key_panels * tile_columns, kMostKeys / tile_columns * tile_columns);
  }

  std::int64_t packed_keys() const { return key_panels * tile_columns * channels; }  // of a batch
  std::int64_t packed_values() const { return value_panels * tile_columns * keys; }  // of a batch
  std::int64_t output_width() const { return value_panels * tile_columns; }

  std::int64_t tile_rows;
  std::int64_t tile_columns;
  std::int64_t key_panels;
  std::int64_t value_panels;
  std::int64_t chunk;  // keys of a step
};

/// The scratch memory of one rank, in floats.
struct RankMemory {
  explicit RankMemory(const Geometry& g)
      : queries(0),
        scores(padded(g.block * g.channels)),
        output(scores + padded(g.block * g.chunk)),
        softmax(output + padded(g.block * g.output_width())),
        end(softmax + padded(g.block * std::int64_t{sizeof(RunningSoftmax) / sizeof(float)})) {}

  static std::int64_t padded(std::int64_t floats) { return round_up(floats, 16); }

  std::int64_t queries;
  std::int64_t scores;
  std::int64_t output;
  std::int64_t softmax;
  std::int64_t end;
};

class BoundAttention : public BoundLaunch {
 public:
  using Sizes = Geometry;

  BoundAttention(const Geometry& geometry, float scale, const Bindings& bindings)
      : g_(geometry),
        memory_(geometry),
        scale_(scale),
        query_(static_cast<const float*>(bindings.inputs[0].data)),
        key_(static_cast<const float*>(bindings.inputs[1].data)),
        value_(static_cast<const float*>(bindings.inputs[2].data)),
        mask_(geometry.mask ? static_cast<const float*>(bindings.inputs[3].data) : nullptr),
        output_(static_cast<float*>(bindings.outputs[0].data)),
        packed_keys_(reinterpret_cast<float*>(bindings.scratch)),
        packed_values_(packed_keys_ + g_.batches * g_.packed_keys()),
        ranks_(packed_values_ + g_.batches * g_.packed_values()),
        zeros_(static_cast<std::size_t>(g_.tile_columns), 0.0F) {}

  static std::int64_t scratch_bytes(const Geometry& g, int threads) {
    return (g.batches * (g.packed_keys() + g.packed_values()) + threads * RankMemory(g).end) *
           std::int64_t{sizeof(float)};
  }
  static std::string detail(const Geometry& g) {
    return fmt::format("{} parts of {} queries, {} keys at a time", g.parts(), g.block, g.chunk);
  }

  void run() override {
    const std::int64_t panels = g_.key_panels + g_.value_panels;
    const std::int64_t cost = (g_.packed_keys() + g_.packed_values()) / panels;
    parallel_for(g_.batches * panels, kParallelGrain / (cost + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t panel = i % panels;
        if (panel < g_.key_panels)
          pack_keys(i / panels, panel);
        else
          pack_values(i / panels, panel - g_.key_panels);
      }
    });
    parallel_for(g_.parts(), kParallelOperations / g_.part_operations() + 1, [&](std::int64_t begin, std::int64_t end) {
      float* own = ranks_ + current_rank().rank * memory_.end;
      for (std::int64_t part = begin; part < end; ++part) run_part(part / g_.blocks, part % g_.blocks * g_.block, own);
    });
  }

 private:
  /// A panel's columns are keys.
  void pack_keys(std::int64_t batch, std::int64_t panel) {
    const std::int64_t first = panel * g_.tile_columns;
    const std::int64_t count = std::min(g_.tile_columns, g_.keys - first);
    float* to = packed_keys_ + batch * g_.packed_keys() + first * g_.channels;
    if (count < g_.tile_columns) std::fill_n(to, g_.tile_columns * g_.channels, 0.0F);
    if (g_.key.columns_contiguous && g_.key.row_step > 0)
      return transpose_block(reinterpret_cast<const std::uint32_t*>(key_ + g_.key.at(batch, first)), g_.key.row_step,
                             reinterpret_cast<std::uint32_t*>(to), g_.tile_columns, count, g_.channels);
    for (std::int64_t c = 0; c < g_.channels; ++c)
      for (std::int64_t j = 0; j < count; ++j)
        to[c * g_.tile_columns + j] = key_[g_.key.at(batch, first + j) + g_.key.of[2][static_cast<std::size_t>(c)]];
  }

  /// A panel's columns are channels.
  void pack_values(std::int64_t batch, std::int64_t panel) {
    const std::int64_t first = panel * g_.tile_columns;
    const std::int64_t count = std::min(g_.tile_columns, g_.value_channels - first);
    float* to = packed_values_ + batch * g_.packed_values() + first * g_.keys;
    for (std::int64_t n = 0; n < g_.keys; ++n, to += g_.tile_columns) {
      g_.value.copy(value_ + g_.value.at(batch, n), first, count, to);
      std::fill(to + count, to + g_.tile_columns, 0.0F);
    }
  }

  /// The queries of a block from FIRST on.
  void run_part(std::int64_t batch, std::int64_t first, float* own) const {
    const std::int64_t count = std::min(g_.block, g_.queries - first);
    float* queries = own + memory_.queries;
    for (std::int64_t i = 0; i < count; ++i) {
      float* row = queries + i * g_.channels;
      g_.query.copy(query_ + g_.query.at(batch, first + i), 0, g_.channels, row);
      for (std::int64_t c = 0; c < g_.channels; ++c) row[c] *= scale_;
    }
    std::fill_n(own + memory_.output, count * g_.output_width(), 0.0F);
    std::fill_n(reinterpret_cast<RunningSoftmax*>(own + memory_.softmax), count, RunningSoftmax{});
    for (std::int64_t start = 0; start < g_.keys; start += g_.chunk) {
      const std::int64_t keys = std::min(g_.chunk, g_.keys - start);
      compute_scores(batch, start, keys, count, own);
      for (std::int64_t i = 0; i < count; ++i) {
        float* row = own + memory_.scores + i * g_.chunk;
        if (mask_ != nullptr) add_mask(*g_.mask, mask_ + g_.mask->at(batch, first + i), start, keys, row);
        update_softmax(row, keys, i, own);
      }
      add_values(batch, start, keys, count, own);
    }
    for (std::int64_t i = 0; i < count; ++i) store(batch, first + i, i, own);
  }

  void compute_scores(std::int64_t batch, std::int64_t start, std::int64_t keys, std::int64_t count, float* own) const {
    const float* panels = packed_keys_ + batch * g_.packed_keys();
    for (std::int64_t key = 0; key < keys; key += g_.tile_columns)
      multiply({.rows = own + memory_.queries, .stride = g_.channels, .count = count}, g_.channels,
               panels + (start + key) * g_.channels, zeros_.data(), own + memory_.scores + key, g_.chunk);
  }

  void add_values(std::int64_t batch, std::int64_t start, std::int64_t keys, std::int64_t count, float* own) const {
    const float* panels = packed_values_ + batch * g_.packed_values();
    for (std::int64_t panel = 0; panel < g_.value_panels; ++panel)
      multiply({.rows = own + memory_.scores, .stride = g_.chunk, .count = count}, keys,
               panels + (panel * g_.keys + start) * g_.tile_columns, nullptr,
               own + memory_.output + panel * g_.tile_columns, g_.output_width());
  }

  struct Rows {
    const float* rows;
    std::int64_t stride;
    std::int64_t count;
  };

  /// A panel's columns of the product of LEFT, to OUT with rows STRIDE apart.
  void multiply(const Rows& left, std::int64_t depth, const float* panel, const float* initial, float* out,
                std::int64_t stride) const {
    for (std::int64_t first = 0; first < left.count; first += g_.tile_rows) {
      const float* row = left.rows + first * left.stride;
      kernels_.run({.rows = &row,
                    .step = static_cast<std::size_t>(left.stride),
                    .taps = 1,
                    .first = 0,
                    .depth = static_cast<std::size_t>(depth),
                    .panel = panel,
                    .initial = initial,
                    .out = out + first * stride,
                    .stride = static_cast<std::size_t>(stride),
                    .height = static_cast<std::size_t>(std::min(g_.tile_rows, left.count - first)),
                    .columns = static_cast<std::size_t>(g_.tile_columns)});
    }
  }

  /// Exponentials of a chunk of row I of the block; adjusts what the chunks before have added to the row's output.
  void update_softmax(float* row, std::int64_t keys, std::int64_t i, float* own) const {
    const float factor = add_chunk(reinterpret_cast<RunningSoftmax*>(own + memory_.softmax)[i], row, keys);
    if (factor == 1) return;
    float* output = own + memory_.output + i * g_.output_width();
    for (std::int64_t e = 0; e < g_.output_width(); ++e) output[e] *= factor;
  }

  void store(std::int64_t batch, std::int64_t query, std::int64_t i, const float* own) const {
    const float* from = own + memory_.output + i * g_.output_width();
    const float factor = 1 / reinterpret_cast<const RunningSoftmax*>(own + memory_.softmax)[i].sum;
    float* to = output_ + g_.output.at(batch, query);
    const std::int64_t* columns = g_.output.of[2].data();
    if (g_.output.columns_contiguous)
      for (std::int64_t e = 0; e < g_.value_channels; ++e) to[*columns + e] = from[e] * factor;
    else
      for (std::int64_t e = 0; e < g_.value_channels; ++e) to[columns[e]] = from[e] * factor;
  }

  const ProductKernels& kernels_ = product_kernels();
  const Geometry& g_;
  RankMemory memory_;
  float scale_;
  const float* query_;
  const float* key_;
  const float* value_;
  const float* mask_;
  float* output_;
  float* packed_keys_;
  float* packed_values_;
  float* ranks_;
  std::vector<float> zeros_;
};

}  // namespace

const Tactic& vector_attention() {
  static const AttentionTactic<BoundAttention> tactic("vector.attention", DType::kFloat32);
  return tactic;
}

}  // namespace saccade::cpu
