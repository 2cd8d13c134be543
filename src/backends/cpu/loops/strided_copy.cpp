#include "cpu/loops/strided_copy.hpp"

#include <algorithm>
#include <cstring>

#include "base/integers.hpp"
#include "cpu/kernels/transpose_kernels.hpp"
#include "cpu/team/parallel.hpp"

namespace saccade::cpu {
namespace {

// Of a transpose's parts: columns of the source, and rows.
constexpr std::int64_t kBlock = 64;
constexpr std::int64_t kPartRows = 256;

template <typename Element>
void copy_row(const std::byte* src, std::int64_t src_stride, std::byte* dst, std::int64_t dst_stride,
              std::int64_t count) {
  const auto* from = reinterpret_cast<const Element*>(src);
  auto* to = reinterpret_cast<Element*>(dst);
  for (std::int64_t i = 0; i < count; ++i) to[i * dst_stride] = from[i * src_stride];
}

void copy_row(std::size_t element_bytes, const std::byte* src, std::int64_t src_stride, std::byte* dst,
              std::int64_t dst_stride, std::int64_t count) {
  switch (element_bytes) {
    case 1: return copy_row<std::uint8_t>(src, src_stride, dst, dst_stride, count);
    case 2: return copy_row<std::uint16_t>(src, src_stride, dst, dst_stride, count);
    case 4: return copy_row<std::uint32_t>(src, src_stride, dst, dst_stride, count);
    case 8: return copy_row<std::uint64_t>(src, src_stride, dst, dst_stride, count);
    default:
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(dst + i * dst_stride * static_cast<std::int64_t>(element_bytes),
                    src + i * src_stride * static_cast<std::int64_t>(element_bytes), element_bytes);
  }
}

}  // namespace

StridedCopy::StridedCopy(std::vector<Loop> loops, std::size_t element_bytes)
    : loops_(collapse(std::move(loops))), element_bytes_(element_bytes) {
  const Loop inner = loops_.back();
  for (const Loop& loop : loops_)
    if (loop.size == 0) kind_ = Kind::kEmpty;
  if (kind_ == Kind::kEmpty) return;
  if (inner.strides[0] == 1 && inner.strides[1] == 1) {
    kind_ = Kind::kRows;
  } else if ((element_bytes == 4 || element_bytes == 2) && inner.strides[0] == 1 && inner.size >= 2) {
    const auto columns = std::ranges::find_if(loops_, [](const Loop& loop) { return loop.strides[1] == 1; });
    if (columns != loops_.end() && columns->size >= 4) {
      columns_ = *columns;
      loops_.erase(columns);
      kind_ = Kind::kTransposed;
    }
  }
  for (std::size_t i = 0; i + 1 < loops_.size(); ++i) outer_rows_ *= loops_[i].size;
}

void StridedCopy::run(const std::byte* src, std::byte* dst) const {
  switch (kind_) {
    case Kind::kEmpty: return;
    case Kind::kRows: return rows(src, dst);
    case Kind::kTransposed:
      return element_bytes_ == 2 ? transposed<std::uint16_t>(src, dst) : transposed<std::uint32_t>(src, dst);
    case Kind::kElements: return elements(src, dst);
  }
}

void StridedCopy::rows(const std::byte* src, std::byte* dst) const {
  const auto size = static_cast<std::int64_t>(element_bytes_);
  const std::int64_t bytes = loops_.back().size * size;
  if (outer_rows_ == 1) {
    parallel_for(bytes, 4 * kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(dst + begin, src + begin, static_cast<std::size_t>(end - begin));
    });
    return;
  }
  parallel_for(outer_rows_, 4 * kParallelGrain / bytes + 1, [&](std::int64_t begin, std::int64_t end) {
    LoopIterator<2> iterator(loops_.data(), static_cast<int>(loops_.size()) - 1, begin);
    for (std::int64_t row = begin; row < end; ++row, iterator.next())
      std::memcpy(dst + iterator.offsets[0] * size, src + iterator.offsets[1] * size, static_cast<std::size_t>(bytes));
  });
}

template <typename Element>
void StridedCopy::transposed(const std::byte* src, std::byte* dst) const {
  const auto* from = reinterpret_cast<const Element*>(src);
  auto* to = reinterpret_cast<Element*>(dst);
  const Loop& inner = loops_.back();
  const std::int64_t across = ceil_div(columns_.size, kBlock);
  const std::int64_t down = ceil_div(inner.size, kPartRows);
  const std::int64_t grain = kParallelGrain / (std::min(kBlock, columns_.size) * std::min(kPartRows, inner.size)) + 1;
  parallel_for(outer_rows_ * across * down, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const LoopIterator<2> iterator(loops_.data(), static_cast<int>(loops_.size()) - 1, part / (across * down));
      const std::int64_t column = part / down % across * kBlock;
      const std::int64_t columns = std::min(kBlock, columns_.size - column);
      const Element* block_src = from + iterator.offsets[1] + column;
      Element* block_dst = to + iterator.offsets[0] + column * columns_.strides[0];
      const std::int64_t first = part % down * kPartRows;
      const std::int64_t last = std::min(first + kPartRows, inner.size);
      for (std::int64_t row = first; row < last; row += kBlock)
        transpose_block(block_src + row * inner.strides[1], inner.strides[1], block_dst + row, columns_.strides[0],
                        std::min(kBlock, last - row), columns);
    }
  });
}

void StridedCopy::elements(const std::byte* src, std::byte* dst) const {
  const auto size = static_cast<std::int64_t>(element_bytes_);
  const Loop& inner = loops_.back();
  parallel_for(outer_rows_, kParallelGrain / inner.size + 1, [&](std::int64_t begin, std::int64_t end) {
    LoopIterator<2> iterator(loops_.data(), static_cast<int>(loops_.size()) - 1, begin);
    for (std::int64_t row = begin; row < end; ++row, iterator.next())
      copy_row(element_bytes_, src + iterator.offsets[1] * size, inner.strides[1], dst + iterator.offsets[0] * size,
               inner.strides[0], inner.size);
  });
}

}  // namespace saccade::cpu
