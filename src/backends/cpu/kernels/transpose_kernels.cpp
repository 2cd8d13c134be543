#include "cpu/kernels/transpose_kernels.hpp"
#include "cpu/kernels/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kernels/transpose_kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace saccade::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <typename Element>
HWY_INLINE void transpose_square(const Element* src, std::int64_t src_stride, Element* dst, std::int64_t dst_stride) {
  constexpr std::int64_t kSide = 16 / sizeof(Element);
  for (std::int64_t c = 0; c < kSide; ++c)
    for (std::int64_t r = 0; r < kSide; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
}
#else
/// Stores four columns: the 4-byte lanes of A, B, C and D, which hold a row each, or two rows of 2-byte elements.
template <typename Element, class V>
HWY_INLINE void store_columns(V a, V b, V c, V d, Element* dst, std::int64_t dst_stride) {
  const hn::FixedTag<std::uint32_t, 4> d32;
  const hn::FixedTag<std::uint64_t, 2> d64;
  const hn::FixedTag<Element, 16 / sizeof(Element)> elements;
  const auto low_ab = hn::BitCast(d64, hn::InterleaveLower(d32, a, b));
  const auto low_cd = hn::BitCast(d64, hn::InterleaveLower(d32, c, d));
  const auto high_ab = hn::BitCast(d64, hn::InterleaveUpper(d32, a, b));
  const auto high_cd = hn::BitCast(d64, hn::InterleaveUpper(d32, c, d));
  hn::StoreU(hn::BitCast(elements, hn::InterleaveLower(d64, low_ab, low_cd)), elements, dst);
  hn::StoreU(hn::BitCast(elements, hn::InterleaveUpper(d64, low_ab, low_cd)), elements, dst + dst_stride);
  hn::StoreU(hn::BitCast(elements, hn::InterleaveLower(d64, high_ab, high_cd)), elements, dst + 2 * dst_stride);
  hn::StoreU(hn::BitCast(elements, hn::InterleaveUpper(d64, high_ab, high_cd)), elements, dst + 3 * dst_stride);
}

/// Four rows of four, transposed in registers.
HWY_INLINE void transpose_square(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst,
                                 std::int64_t dst_stride) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const auto row = [&](std::int64_t r) HWY_ATTR { return hn::LoadU(d, src + r * src_stride); };
  store_columns(row(0), row(1), row(2), row(3), dst, dst_stride);
}

/// Eight rows of eight, transposed in registers.
HWY_INLINE void transpose_square(const std::uint16_t* src, std::int64_t src_stride, std::uint16_t* dst,
                                 std::int64_t dst_stride) {
  const hn::FixedTag<std::uint16_t, 8> d;
  const hn::RepartitionToWide<decltype(d)> d32;
  const auto row = [&](std::int64_t r) HWY_ATTR { return hn::LoadU(d, src + r * src_stride); };
  const auto lower = [&](auto a, auto b) HWY_ATTR { return hn::BitCast(d32, hn::InterleaveLower(d, a, b)); };
  const auto upper = [&](auto a, auto b) HWY_ATTR { return hn::BitCast(d32, hn::InterleaveUpper(d, a, b)); };
  const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3), r4 = row(4), r5 = row(5), r6 = row(6), r7 = row(7);
  store_columns(lower(r0, r1), lower(r2, r3), lower(r4, r5), lower(r6, r7), dst, dst_stride);
  store_columns(upper(r0, r1), upper(r2, r3), upper(r4, r5), upper(r6, r7), dst + 4 * dst_stride, dst_stride);
}
#endif

template <typename Element>
HWY_INLINE void transpose(const Element* src, std::int64_t src_stride, Element* dst, std::int64_t dst_stride,
                          std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSide = 16 / sizeof(Element);
  const std::int64_t whole_rows = rows / kSide * kSide;
  const std::int64_t whole_columns = columns / kSide * kSide;
  for (std::int64_t c = 0; c < whole_columns; c += kSide)
    for (std::int64_t r = 0; r < whole_rows; r += kSide)
      transpose_square(src + r * src_stride + c, src_stride, dst + c * dst_stride + r, dst_stride);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
      dst[c * dst_stride + r] = src[r * src_stride + c];
}

void transpose_words(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst, std::int64_t dst_stride,
                     std::int64_t rows, std::int64_t columns) {
  transpose(src, src_stride, dst, dst_stride, rows, columns);
}

void transpose_halves(const std::uint16_t* src, std::int64_t src_stride, std::uint16_t* dst, std::int64_t dst_stride,
                      std::int64_t rows, std::int64_t columns) {
  transpose(src, src_stride, dst, dst_stride, rows, columns);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace saccade::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::cpu {
namespace {
HWY_EXPORT(transpose_words);
HWY_EXPORT(transpose_halves);
}  // namespace

void transpose_block(const std::uint32_t* src, std::int64_t src_stride, std::uint32_t* dst, std::int64_t dst_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_words)(src, src_stride, dst, dst_stride, rows, columns);
}

void transpose_block(const std::uint16_t* src, std::int64_t src_stride, std::uint16_t* dst, std::int64_t dst_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_halves)(src, src_stride, dst, dst_stride, rows, columns);
}

}  // namespace saccade::cpu
#endif
