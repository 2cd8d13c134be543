#pragma once

#include <algorithm>
#include <functional>

#include "cpu/loops/element_program.hpp"
#include "cpu/team/parallel.hpp"

namespace saccade::cpu {

/// A dense tensor in memory order as outer x count x inner, where COUNT is the product of the reduced dimensions, which
/// are adjacent in memory. Its reduction rows have COUNT elements.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
};

/// Whether the value's elements lie in the order of its dimensions.
inline bool is_row_major(const Value& value) {
  return value.type.shape.rank() < 3 || value.layout == Layout::kRowMajor;
}

/// Nullopt if the axes are not adjacent in memory.
std::optional<Lines> lines_along(const TensorView& tensor, const std::vector<bool>& axes);

/// Interleaved rows that for_lines() processes together: a few cache lines.
constexpr std::int64_t kColumns = 64;

/// Reduces every row of LINES, split over the threads. WORK is the cost per element relative to a memory access.
/// Contiguous rows call ROW(from, to) with the offsets of the first element and of the result. Others call
/// COLUMNS(from, to, width) for WIDTH adjacent rows at once, whose elements have the stride lines.inner.
template <typename Row, typename Columns>
void for_lines(const Lines& lines, std::int64_t work, const Row& row, const Columns& columns) {
  const std::int64_t cost = work * lines.count;
  if (lines.inner == 1) {
    parallel_for(lines.outer, kParallelGrain / cost + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) row(i * lines.count, i);
    });
    return;
  }
  const std::int64_t blocks = (lines.inner + kColumns - 1) / kColumns;
  parallel_for(lines.outer * blocks, kParallelGrain / (kColumns * cost) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t outer = unit / blocks;
      const std::int64_t column = unit % blocks * kColumns;
      columns(outer * lines.count * lines.inner + column, outer * lines.inner + column,
              static_cast<std::size_t>(std::min(kColumns, lines.inner - column)));
    }
  });
}

/// Contiguous rows of fewer elements than a vector are better processed many at once: a vector of one row has mostly
/// empty lanes.
constexpr std::int64_t kShortRow = 15;

inline bool has_short_rows(const Lines& lines) {
  return lines.inner == 1 && lines.count > 0 && lines.count <= kShortRow;
}

/// Calls WORK(first row, rows) for groups of at most kColumns short rows, split over the threads. COST is that of an
/// element relative to a memory access.
template <typename Work>
void for_short_rows(const Lines& lines, std::int64_t cost, const Work& work) {
  parallel_for(lines.outer, kParallelGrain / (cost * lines.count) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kColumns) work(i, std::min(kColumns, end - i));
  });
}

/// A launch of float32 work on input 0 and output 0: RUN(inputs, outputs) on the execution's views.
using ViewWork = std::function<void(std::span<const TensorView> inputs, std::span<const TensorView> outputs)>;
std::unique_ptr<Launch> launch_of(ViewWork run);

}  // namespace saccade::cpu
