#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/integers.hpp"
#include "cpu/kernels/elementwise_kernels.hpp"
#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/half_product_kernels.hpp"
#include "cpu/kernels/half_row_kernels.hpp"
#include "cpu/kernels/row_kernels.hpp"
#include "cpu/kernels/transpose_kernels.hpp"
#include "cpu/tactics/attention_parts.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// saccade.StridedAttention in bfloat16 with float32 scores: as attention.cpp, with the products of
// half_product_kernels.hpp. The exponentials are rounded to bfloat16 before they weight the values; their sum is not.
//
// Bound: 2 * batches * queries * keys * (channels + value channels) operations / multiply-add peak.
namespace saccade::cpu {
namespace {

constexpr auto kDepth = static_cast<std::int64_t>(HalfStrip::kDepth);
constexpr auto kColumns = static_cast<std::int64_t>(HalfStrip::kColumns);
constexpr std::int64_t kStep = kDepth * kColumns;

// Scores and exponentials of a block and the keys and values of a chunk fit into half of an L2 of 2 MiB.
constexpr std::int64_t kMostQueries = 64;
constexpr std::int64_t kMostKeys = 1024;

struct Geometry : AttentionSizes {
  Geometry(const AttentionPatterns& patterns, int threads) : AttentionSizes(patterns, threads, kMostQueries) {
    padded_channels = round_up(channels, kDepth);
    padded_keys = round_up(keys, kDepth);
    value_panels = ceil_div(value_channels, kColumns);
    chunk = std::min(padded_keys, kMostKeys);
    reads_queries = query.columns_contiguous && query.row_step > 0 && channels == padded_channels;
  }

  std::int64_t packed_keys() const { return padded_keys * padded_channels; }            // of a batch
  std::int64_t packed_values() const { return value_panels * kColumns * padded_keys; }  // of a batch
  std::int64_t output_width() const { return value_panels * kColumns; }

  std::int64_t padded_channels;
  std::int64_t padded_keys;
  std::int64_t value_panels;
  std::int64_t chunk;  // keys of a step
  bool reads_queries;  // where they are
};

/// The scratch memory of one rank, in bytes.
struct RankMemory {
  explicit RankMemory(const Geometry& g)
      : scores(padded(2 * g.block * g.padded_channels)),
        exponentials(scores + padded(4 * g.block * g.chunk)),
        weighted(exponentials + padded(2 * g.block * g.chunk)),
        output(weighted + padded(4 * g.block * g.output_width())),
        softmax(output + padded(4 * g.block * g.output_width())),
        end(softmax + padded(g.block * std::int64_t{sizeof(RunningSoftmax)})) {}

  static std::int64_t padded(std::int64_t bytes) { return round_up(bytes, 64); }

  std::int64_t scores;  // after the queries
  std::int64_t exponentials;
  std::int64_t weighted;  // values of a chunk
  std::int64_t output;
  std::int64_t softmax;
  std::int64_t end;
};

class BoundHalfAttention : public BoundLaunch {
 public:
  using Sizes = Geometry;

  BoundHalfAttention(const Geometry& geometry, float scale, const Bindings& bindings)
      : g_(geometry),
        memory_(geometry),
        scale_(scale),
        query_(static_cast<const std::uint16_t*>(bindings.inputs[0].data)),
        key_(static_cast<const std::uint16_t*>(bindings.inputs[1].data)),
        value_(static_cast<const std::uint16_t*>(bindings.inputs[2].data)),
        mask_(geometry.mask ? static_cast<const float*>(bindings.inputs[3].data) : nullptr),
        output_(static_cast<std::uint16_t*>(bindings.outputs[0].data)),
        packed_keys_(reinterpret_cast<std::uint16_t*>(bindings.scratch)),
        packed_values_(packed_keys_ + g_.batches * g_.packed_keys()),
        ranks_(reinterpret_cast<std::byte*>(packed_values_ + g_.batches * g_.packed_values())) {
    const std::int64_t steps = std::max(g_.padded_channels, g_.chunk) / kDepth;
    for (std::int64_t step = 0; step < steps; ++step) offsets_.push_back(static_cast<std::int32_t>(step * kDepth));
  }

  static std::int64_t scratch_bytes(const Geometry& g, int threads) {
    return 2 * g.batches * (g.packed_keys() + g.packed_values()) + threads * RankMemory(g).end;
  }
  static std::string detail(const Geometry& g) {
    return fmt::format("{}, {} parts of {} queries, {} keys at a time", half_product_kernels().name, g.parts(), g.block,
                       g.chunk);
  }

  void run() override {
    const std::int64_t key_panels = g_.padded_keys / kColumns;
    const std::int64_t value_steps = g_.padded_keys / kDepth;
    const std::int64_t units = key_panels + value_steps;
    const std::int64_t cost = (g_.packed_keys() + g_.packed_values()) / units;
    parallel_for(g_.batches * units, kParallelGrain / (cost + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t unit = i % units;
        if (unit < key_panels)
          pack_keys(i / units, unit);
        else
          pack_values(i / units, unit - key_panels);
      }
    });
    parallel_for(g_.parts(), kParallelHalfOperations / g_.part_operations() + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   std::byte* own = ranks_ + current_rank().rank * memory_.end;
                   for (std::int64_t part = begin; part < end; ++part)
                     run_part(part / g_.blocks, part % g_.blocks * g_.block, own);
                 });
  }

 private:
  /// A panel's columns are keys.
  void pack_keys(std::int64_t batch, std::int64_t panel) {
    const std::int64_t first = panel * kColumns;
    const std::int64_t count = std::min(kColumns, g_.keys - first);
    std::uint16_t* to = packed_keys_ + batch * g_.packed_keys() + first * g_.padded_channels;
    const bool is_whole = count == kColumns && g_.channels == g_.padded_channels;
    if (!is_whole) std::fill_n(to, kColumns * g_.padded_channels, std::uint16_t{0});
    const bool has_pairs = g_.key.columns_contiguous && g_.key.row_step > 0 && g_.key.row_step % 2 == 0 &&
                           g_.key.at(batch, first) % 2 == 0;
    for (std::int64_t c = 0; c < g_.channels; c += kDepth) {
      const std::int64_t depth = std::min(kDepth, g_.channels - c);
      std::uint16_t* step = to + c * kColumns;
      if (has_pairs && depth % 2 == 0) {
        pack_pairs(key_ + g_.key.at(batch, first) + c, count, depth / 2, step);
        continue;
      }
      for (std::int64_t j = 0; j < count; ++j) {
        const std::uint16_t* row = key_ + g_.key.at(batch, first + j);
        for (std::int64_t k = 0; k < depth; ++k)
          step[half_panel_index(static_cast<std::size_t>(k), static_cast<std::size_t>(j))] =
              row[g_.key.of[2][static_cast<std::size_t>(c + k)]];
      }
    }
  }

  /// PAIRS pairs of channels of COUNT keys, transposed in each half of a step.
  void pack_pairs(const std::uint16_t* from, std::int64_t count, std::int64_t pairs, std::uint16_t* step) const {
    constexpr std::int64_t kHalf = kColumns / 2;
    for (std::int64_t half = 0; half * kHalf < count; ++half)
      transpose_block(reinterpret_cast<const std::uint32_t*>(from + half * kHalf * g_.key.row_step),
                      g_.key.row_step / 2, reinterpret_cast<std::uint32_t*>(step + half * kStep / 2), kHalf,
                      std::min(kHalf, count - half * kHalf), pairs);
  }

  /// The values of a step of keys, in all panels. A panel's columns are channels.
  void pack_values(std::int64_t batch, std::int64_t step) {
    std::uint16_t* to = packed_values_ + batch * g_.packed_values() + step * kStep;
    const std::int64_t first = step * kDepth;
    const std::int64_t count = std::min(kDepth, g_.keys - first);
    for (std::int64_t panel = 0; panel < g_.value_panels; ++panel, to += g_.padded_keys * kColumns) {
      const std::int64_t column = panel * kColumns;
      const std::int64_t width = std::min(kColumns, g_.value_channels - column);
      if (count < kDepth || width < kColumns) std::fill_n(to, kStep, std::uint16_t{0});
      for (std::int64_t k = 0; k < count; ++k) {
        std::array<std::uint16_t, kColumns> row{};
        g_.value.copy(value_ + g_.value.at(batch, first + k), column, width, row.data());
        for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j)
          to[half_panel_index(static_cast<std::size_t>(k), j)] = row[j];
      }
    }
  }

  /// The queries of a block from FIRST on.
  void run_part(std::int64_t batch, std::int64_t first, std::byte* own) const {
    const std::int64_t count = std::min(g_.block, g_.queries - first);
    auto* softmax = reinterpret_cast<RunningSoftmax*>(own + memory_.softmax);
    auto* scores = reinterpret_cast<float*>(own + memory_.scores);
    auto* output = reinterpret_cast<float*>(own + memory_.output);
    const std::uint16_t* queries = rows_of_queries(batch, first, count, reinterpret_cast<std::uint16_t*>(own));
    std::fill_n(softmax, count, RunningSoftmax{});
    for (std::int64_t start = 0; start < g_.keys; start += g_.chunk) {
      const std::int64_t keys = std::min(g_.chunk, g_.keys - start);
      compute_scores(queries, batch, start, keys, count, scores);
      auto* exponentials = reinterpret_cast<std::uint16_t*>(own + memory_.exponentials);
      for (std::int64_t i = 0; i < count; ++i) {
        std::uint16_t* rounded = exponentials + i * g_.chunk;
        const float factor = exponentiate(batch, first + i, start, keys, scores + i * g_.chunk, softmax[i], rounded);
        std::fill_n(rounded + keys, round_up(keys, kDepth) - keys, std::uint16_t{0});
        if (start > 0 && factor != 1)
          for (std::int64_t e = 0; e < g_.output_width(); ++e) output[i * g_.output_width() + e] *= factor;
      }
      auto* weighted = start == 0 ? output : reinterpret_cast<float*>(own + memory_.weighted);
      weight_values(exponentials, batch, start, keys, count, weighted);
      if (start > 0)
        for (std::int64_t e = 0; e < count * g_.output_width(); ++e) output[e] += weighted[e];
    }
    for (std::int64_t i = 0; i < count; ++i)
      store(batch, first + i, output + i * g_.output_width(), 1 / softmax[i].sum);
  }

  std::int64_t query_stride() const { return g_.reads_queries ? g_.query.row_step : g_.padded_channels; }

  const std::uint16_t* rows_of_queries(std::int64_t batch, std::int64_t first, std::int64_t count,
                                       std::uint16_t* own) const {
    if (g_.reads_queries) return query_ + g_.query.at(batch, first);
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint16_t* row = own + i * g_.padded_channels;
      g_.query.copy(query_ + g_.query.at(batch, first + i), 0, g_.channels, row);
      std::fill(row + g_.channels, row + g_.padded_channels, std::uint16_t{0});
    }
    return own;
  }

  void compute_scores(const std::uint16_t* queries, std::int64_t batch, std::int64_t start, std::int64_t keys,
                      std::int64_t count, float* scores) const {
    const std::uint16_t* panels = packed_keys_ + batch * g_.packed_keys() + start * g_.padded_channels;
    const std::int64_t panel = g_.padded_channels * kColumns;
    kernels_.run({.rows = queries,
                  .stride = static_cast<std::size_t>(query_stride()),
                  .height = static_cast<std::size_t>(count),
                  .offsets = offsets_.data(),
                  .steps = static_cast<std::size_t>(g_.padded_channels / kDepth),
                  .panel = panels,
                  .panels = static_cast<std::size_t>(ceil_div(keys, kColumns)),
                  .panel_stride = static_cast<std::size_t>(panel),
                  .initial = nullptr,
                  .sums = scores,
                  .sums_stride = static_cast<std::size_t>(g_.chunk)});
  }

  /// Exponentials of a row of scores. Returns the factor for what earlier chunks have added to the row's output.
  float exponentiate(std::int64_t batch, std::int64_t query, std::int64_t start, std::int64_t keys, float* row,
                     RunningSoftmax& softmax, std::uint16_t* exponentials) const {
    const auto count = static_cast<std::size_t>(keys);
    float scale = scale_;
    if (mask_ != nullptr || scale < 0) {
      multiply_(row, &scale_, row, count, 0, 0);
      scale = 1;
    }
    if (mask_ != nullptr) add_mask(*g_.mask, mask_ + g_.mask->at(batch, query), start, keys, row);
    const float greatest = scale * rows_.reduce_row(Reduce::kMax, row, count);
    const auto [shift, factor] = softmax.raise(greatest);
    softmax.sum = softmax.sum * factor + half_rows_.exponentials(row, count, scale, shift, exponentials);
    return factor;
  }

  void weight_values(const std::uint16_t* exponentials, std::int64_t batch, std::int64_t start, std::int64_t keys,
                     std::int64_t count, float* weighted) const {
    const std::uint16_t* panels = packed_values_ + batch * g_.packed_values() + start * kColumns;
    const std::int64_t panel = g_.padded_keys * kColumns;
    kernels_.run({.rows = exponentials,
                  .stride = static_cast<std::size_t>(g_.chunk),
                  .height = static_cast<std::size_t>(count),
                  .offsets = offsets_.data(),
                  .steps = static_cast<std::size_t>(ceil_div(keys, kDepth)),
                  .panel = panels,
                  .panels = static_cast<std::size_t>(g_.value_panels),
                  .panel_stride = static_cast<std::size_t>(panel),
                  .initial = nullptr,
                  .sums = weighted,
                  .sums_stride = static_cast<std::size_t>(g_.output_width())});
  }

  void store(std::int64_t batch, std::int64_t query, float* row, float factor) const {
    const auto count = static_cast<std::size_t>(g_.value_channels);
    multiply_(row, &factor, row, count, 0, 0);
    std::uint16_t* to = output_ + g_.output.at(batch, query);
    const std::int64_t* columns = g_.output.of[2].data();
    if (g_.output.columns_contiguous) return halves_.narrow_results({row, 0}, {to + *columns, 0}, 1, count);
    for (std::size_t e = 0; e < count; ++e) halves_.narrow_results({row + e, 0}, {to + columns[e], 0}, 1, 1);
  }

  const HalfProductKernels& kernels_ = half_product_kernels();
  const RowKernels& rows_ = row_kernels();
  const HalfRowKernels& half_rows_ = half_row_kernels();
  const HalfKernels& halves_ = half_kernels();
  const ElementKernel multiply_ = binary_kernels("Mul").value().scalar_b;
  const Geometry& g_;
  RankMemory memory_;
  float scale_;
  const std::uint16_t* query_;
  const std::uint16_t* key_;
  const std::uint16_t* value_;
  const float* mask_;
  std::uint16_t* output_;
  std::uint16_t* packed_keys_;
  std::uint16_t* packed_values_;
  std::byte* ranks_;
  std::vector<std::int32_t> offsets_;
};

}  // namespace

const Tactic& bf16_attention() {
  static const AttentionTactic<BoundHalfAttention> tactic("bf16.attention", DType::kBFloat16);
  return tactic;
}

}  // namespace saccade::cpu
