#pragma once

#include <functional>

#include "cpu/loops/element_program.hpp"
#include "cpu/loops/parallel.hpp"

namespace saccade::cpu {

/// A dense tensor seen as it lies in memory: outer x count x inner, where COUNT is the dimensions AXES (neighbours in
/// memory).
struct Lines {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
};

/// Empty where the axes are not neighbours in memory.
std::optional<Lines> lines_along(const TensorView& tensor, const std::vector<bool>& axes);

/// Lines that for_lines() hands out together: a few cache lines of every row.
constexpr std::int64_t kColumns = 64;

/// Reduces every line of LINES, split over the threads; an element costs WORK times what touching it does. Where a
/// line's elements are neighbours ROW(from, to) does one: FROM is the place of its first element, TO that of its
/// result. Else COLUMNS(from, to, width) does WIDTH neighbouring lines at once, whose elements lie lines.inner apart.
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

/// A launch of float32 work on input 0 and output 0: RUN(inputs, outputs) on the execution's views.
using ViewWork = std::function<void(std::span<const TensorView> inputs, std::span<const TensorView> outputs)>;
std::unique_ptr<Launch> launch_of(ViewWork run);

}  // namespace saccade::cpu
